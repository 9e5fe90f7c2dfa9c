/** Compare any two screens of a run. */

import { useState } from "preact/hooks";
import { screenName } from "../../logic/atoms";
import { href, navigate } from "../../router";

export function CompareForm({ run, first, second }: { run: string; first: string; second: string }) {
  const [one, setOne] = useState(first);
  const [other, setOther] = useState(second);
  const [problem, setProblem] = useState("");
  const compare = () => {
    const names = [screenName(one), screenName(other)];
    if (names[0] === null) setProblem("Give a state as 12 or an entry as @345.");
    else if (names[1] === null && other.trim() !== "") setProblem("The second is neither 12 nor @345.");
    else {
      setProblem("");
      navigate(href("explain", [run, names[0]!, ...(names[1] === null ? [] : [names[1]!])]));
    }
  };
  const field = (label: string, value: string, set: (value: string) => void) => (
    <input
      type="text"
      class="screen-name"
      aria-label={label}
      placeholder="12 or @345"
      value={value}
      onInput={(event) => set(event.currentTarget.value)}
    />
  );
  return (
    <form
      class="row"
      aria-label="Compare two screens"
      onSubmit={(event) => {
        event.preventDefault();
        compare();
      }}
    >
      {field("First screen: a state, or an entry with @", one, setOne)}
      <span>with</span>
      {field("Second screen: a state, or an entry with @", other, setOther)}
      <button type="submit">Compare</button>
      <span role="status" class="bad">
        {problem}
      </span>
    </form>
  );
}
