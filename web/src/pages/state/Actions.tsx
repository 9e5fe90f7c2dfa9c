/** The actions that were tried at a state, and what came of them. */

import { useState } from "preact/hooks";
import type { ActionInfo, StatePage } from "../../api/types";
import { count, decimal, plural, share } from "../../format";
import { Said } from "../../parts/Said";
import { Share } from "../../parts/Share";
import { StateCard } from "../../parts/StateCard";
import { Empty } from "../../parts/states";
import { Scrolled } from "../../parts/tables";
import { href } from "../../router";

const FIRST = 60;
const SUCCESSORS = 4;

/** Bring the row of an action into view, and into focus. */
export function showAction(signature: string): void {
  requestAnimationFrame(() => {
    const row = [...document.querySelectorAll<HTMLElement>("[data-signature]")].find(
      (each) => each.dataset["signature"] === signature,
    );
    row?.scrollIntoView({ block: "center" });
    row?.focus();
  });
}

export function Actions({ page }: { page: StatePage }) {
  const [all, setAll] = useState(page.actions.length <= FIRST);
  const rows = all ? page.actions : page.actions.slice(0, FIRST);
  return (
    <section aria-labelledby="actions-heading">
      <h2 id="actions-heading">{plural(page.actions.length, "action")} tried here</h2>
      {page.actions.length === 0 ? (
        <Empty title="Nothing was tried at this state." />
      ) : (
        <Scrolled label="Actions tried at this state">
          <table>
            <thead>
              <tr>
                <th scope="col">action</th>
                <th scope="col" class="number" title="how often it was done here">N</th>
                <th scope="col" class="number" title="mean reward">Q</th>
                <th scope="col" class="number" title="as the latest selection saw it">prior P</th>
                <th scope="col" class="number" title="normalised entropy of its successors">dispersion</th>
                <th scope="col">leads to</th>
              </tr>
            </thead>
            <tbody>
              {rows.map((action) => (
                <Row key={action.signature} run={page.run} state={page.state.id} action={action} />
              ))}
            </tbody>
          </table>
        </Scrolled>
      )}
      {!all && (
        <p>
          <button type="button" onClick={() => setAll(true)}>
            Show all {count(page.actions.length)}
          </button>
        </p>
      )}
    </section>
  );
}

function Row({ run, state, action }: { run: string; state: number; action: ActionInfo }) {
  const failures = Object.entries(action.failures);
  const more = action.successors.length - SUCCESSORS;
  return (
    <tr data-signature={action.signature} tabIndex={-1}>
      <th scope="row">
        <span class="action-words"><Said text={action.words} /></span>
        <code class="signature"><Said text={action.signature} longest={160} /></code>
        {failures.map(([outcome, times]) => (
          <a key={outcome} class="badge badge-bad" href={href("findings", [run])}>
            {outcome} ×{count(times)}
          </a>
        ))}
      </th>
      <td class="number">{count(action.visits)}</td>
      <td class="number">{decimal(action.value)}</td>
      <td class="number">{action.prior === null ? "–" : decimal(action.prior)}</td>
      <td class="number">{decimal(action.dispersion)}</td>
      <td>
        <ul class="successors">
          {action.successors.slice(0, SUCCESSORS).map((each) => (
            <li key={each.state}>
              <StateCard
                small
                run={run}
                state={each.state}
                title={each.title}
                note={<Share value={each.share} words={`${share(each.share)} · ×${count(each.count)}`} />}
              />
              <a class="edge-link" href={href("edge", [run, state, each.state], { signature: action.signature })}>
                <span class="unseen">the edge </span>
                {state}→{each.state}
              </a>
            </li>
          ))}
          {more > 0 && <li class="muted">and {count(more)} more</li>}
        </ul>
      </td>
    </tr>
  );
}
