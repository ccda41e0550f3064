/** Small pieces that several views are made of. */
import type { ComponentChildren, JSX } from 'preact';
import type { Line } from '../src/view-types.ts';
import { distance, stateWord } from './words.ts';

export function State({ state }: { readonly state: string }): JSX.Element {
  const { label, sign, tone } = stateWord(state);
  return (
    <span class={`state ${tone}`}>
      <span aria-hidden="true">{sign}</span> {label}
    </span>
  );
}

/** The first thing that is waited for, and how many more there are. */
export function Waits({ lines, now }: { readonly lines: readonly Line[]; readonly now: number }): JSX.Element | null {
  const [first, ...others] = lines.flatMap(({ planned }) => planned);
  if (!first) return null;
  return (
    <>
      {first.text}
      {first.at !== undefined && <span class="dim"> ({distance(first.at, now)})</span>}
      {others.length > 0 && <span class="dim"> +{others.length}</span>}
    </>
  );
}

export function Empty({
  children,
  title,
}: {
  readonly title: string;
  readonly children?: ComponentChildren;
}): JSX.Element {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {children && <p>{children}</p>}
    </div>
  );
}

export function Count({
  label,
  state,
  value,
}: {
  readonly label: string;
  readonly value: number;
  readonly state?: string;
}): JSX.Element {
  return (
    <div class="count">
      <span class={`count-value ${state && value > 0 ? stateWord(state).tone : ''}`}>{value.toLocaleString('en')}</span>
      <span class="count-label">{label}</span>
    </div>
  );
}
