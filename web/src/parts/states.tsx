/** What a page shows while it has nothing to show: on its way, nothing there, or why not. */

import type { ComponentChildren } from "preact";
import { LeftOut, NotAnswered } from "../api/source";
import { href } from "../router";
import type { Answered } from "../viewer";

export function Loading({ what = "Loading" }: { what?: string }) {
  return (
    <div class="notice" role="status">
      <span class="spinner" aria-hidden="true" /> {what}…
    </div>
  );
}

export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="notice">
      <p class="notice-title">{title}</p>
      {children}
    </div>
  );
}

export function Failed({ error, retry }: { error: Error; retry?: () => void }) {
  const leftOut = error instanceof LeftOut;
  const title = leftOut
    ? "Only the viewer has this"
    : error instanceof NotAnswered
      ? "This could not be shown"
      : "Something broke in this page";
  return (
    <div class={leftOut ? "notice" : "notice notice-bad"} role="alert">
      <p class="notice-title">{title}</p>
      <p>{error.message}</p>
      <p class="row">
        {retry && !leftOut && (
          <button type="button" onClick={retry}>
            Try again
          </button>
        )}
        <button type="button" onClick={() => history.back()}>
          Back
        </button>
        <a href={href("")}>To the start</a>
      </p>
    </div>
  );
}

/** Draws an answer when there is one. */
export function Show<T>({
  answer,
  what,
  children,
}: {
  answer: Answered<T>;
  what?: string;
  children: (value: T, stale: boolean) => ComponentChildren;
}) {
  if (answer.status === "loading") return <Loading {...(what ? { what } : {})} />;
  if (answer.status === "failed") return <Failed error={answer.error} retry={answer.retry} />;
  return <>{children(answer.value, answer.stale)}</>;
}
