/** Which part of a long list is shown, and the way to the others. */

import { count } from "../format";
import { useViewer } from "../viewer";

export interface PagingProps {
  label: string;
  offset: number;
  size: number;
  total: number;
  /** How many are listed now. */
  listed: number;
  onMove: (offset: number) => void;
}

export function Paging({ label, offset, size, total, listed, onMove }: PagingProps) {
  const { source } = useViewer();
  if (source.embedded) {
    return listed < total ? <p class="muted">The first {count(listed)} of {count(total)}; the viewer shows all.</p> : null;
  }
  if (total <= size && offset === 0) return null;
  const last = Math.floor((total - 1) / size) * size;
  return (
    <nav class="paging" aria-label={label}>
      <button type="button" disabled={offset === 0} onClick={() => onMove(0)}>
        First
      </button>
      <button type="button" disabled={offset === 0} onClick={() => onMove(Math.max(0, offset - size))}>
        Previous
      </button>
      <span role="status">
        {count(Math.min(offset + 1, total))}–{count(Math.min(offset + size, total))} of {count(total)}
      </span>
      <button type="button" disabled={offset + size >= total} onClick={() => onMove(offset + size)}>
        Next
      </button>
      <button type="button" disabled={offset >= last} onClick={() => onMove(last)}>
        Last
      </button>
    </nav>
  );
}
