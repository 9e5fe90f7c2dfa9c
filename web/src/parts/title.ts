/** The title of the page in the browser's tab and history. */

import { useEffect } from "preact/hooks";

/** Say what is shown, as in "State 12 · demo", for as long as it is shown. */
export function useTitle(...words: string[]): void {
  const title = [...words.filter(Boolean), "ScreenSearch"].join(" · ");
  useEffect(() => {
    const before = document.title;
    document.title = title;
    return () => {
      document.title = before;
    };
  }, [title]);
}
