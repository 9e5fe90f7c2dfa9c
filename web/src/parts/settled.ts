/** A place in a list that is pointed at, written to the address once the pointer has come to rest. */

import { useEffect, useState } from "preact/hooks";
import { amended, navigate, type Route } from "../router";

const REST = 400; // milliseconds; a browser refuses an address that changes at every move of the pointer

export function useSettled(
  route: Route,
  name: string,
  length: number,
): [number | null, (place: number | null) => void] {
  const [place, setPlace] = useState(() => placeIn(route.query.get(name), length));
  useEffect(() => {
    const wanted = place === null ? null : String(place);
    if (wanted === route.query.get(name)) return;
    const timer = setTimeout(() => navigate(amended(route, { [name]: wanted }), { replace: true }), REST);
    return () => clearTimeout(timer);
  }, [place]);
  return [place !== null && place < length ? place : null, setPlace];
}

/** The number in an address, if it is a place in the list. */
export function placeIn(text: string | null, length: number): number | null {
  return text !== null && /^\d+$/u.test(text) && Number(text) < length ? Number(text) : null;
}
