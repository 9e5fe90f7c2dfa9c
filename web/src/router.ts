/** Where the page is: everything it shows is in the address behind the `#`, so that a link shows the same. */

import { useEffect, useState } from "preact/hooks";

export interface Route {
  page: string;
  parts: string[];
  query: URLSearchParams;
}

export type Query = Record<string, string | number | boolean | null | undefined>;

/** Read `#/map/demo?state=3`. An address that cannot be decoded is taken as it is written. */
export function parse(hash: string): Route {
  const address = hash.replace(/^#?\/?/, "");
  const mark = address.indexOf("?");
  const path = mark < 0 ? address : address.slice(0, mark);
  const [page = "", ...parts] = path.split("/").map(decode);
  while (parts.length > 0 && parts[parts.length - 1] === "") parts.pop();
  return { page, parts, query: new URLSearchParams(mark < 0 ? "" : address.slice(mark + 1)) };
}

/** The address of a page: `href("state", ["demo", 12])`. What is null, undefined, false or "" is left out. */
export function href(page: string, parts: (string | number)[] = [], query: Query = {}): string {
  const path = [page, ...parts.map((part) => encode(String(part)))].join("/");
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== null && value !== undefined && value !== false && value !== "") {
      search.set(name, value === true ? "1" : String(value));
    }
  }
  const text = search.toString();
  return `#/${path}${text ? `?${text}` : ""}`;
}

/** Go to an address made by `href`; `replace` leaves no step to go back to (while panning or typing). */
export function navigate(address: string, { replace = false }: { replace?: boolean } = {}): void {
  if (address === location.hash) return;
  if (replace) history.replaceState(history.state, "", address);
  else history.pushState(null, "", address);
  for (const listener of [...listeners]) listener();
}

/** The same page with some of its query changed. */
export function amended(route: Route, changes: Query): string {
  const query: Query = Object.fromEntries(route.query);
  return href(route.page, route.parts, { ...query, ...changes });
}

export function useRoute(): Route {
  const [hash, setHash] = useState(location.hash);
  useEffect(() => {
    const update = () => setHash(location.hash);
    listeners.add(update);
    addEventListener("hashchange", update);
    addEventListener("popstate", update);
    update();
    return () => {
      listeners.delete(update);
      removeEventListener("hashchange", update);
      removeEventListener("popstate", update);
    };
  }, []);
  return parse(hash);
}

const listeners = new Set<() => void>();

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Commas and `@` stay readable: they part runs and mark entries. */
function encode(part: string): string {
  return encodeURIComponent(part).replace(/%2C/g, ",").replace(/%40/g, "@");
}
