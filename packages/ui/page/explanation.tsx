/** Why one object is as it is: the text of `outrigger explain`, read again while it is open. */
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { ask } from './session.ts';

const REFRESH_MS = 3_000;

export interface ExplanationProps {
  readonly kind: string;
  readonly name: string;
  readonly onClose: () => void;
  readonly children?: ComponentChildren;
}

export function Explanation({ children, kind, name, onClose }: ExplanationProps): JSX.Element {
  const [text, setText] = useState('');
  const [error, setError] = useState('');
  const close = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    setText('');
    setError('');
    const stop = new AbortController();
    const read = (): void => {
      ask(`/api/explain?${new URLSearchParams({ kind, name })}`, stop.signal)
        .then(async (answer) => {
          setText(await answer.text());
          setError('');
        })
        .catch((thrown: Error) => {
          if (!stop.signal.aborted) setError(thrown.message);
        });
    };
    read();
    const timer = setInterval(read, REFRESH_MS);
    return () => {
      stop.abort();
      clearInterval(timer);
    };
  }, [kind, name]);
  return (
    <aside class="panel" aria-label={`${kind} ${name}`}>
      <header class="panel-head">
        <h2>
          <span class="dim">{kind}</span> {name}
        </h2>
        <button type="button" ref={close} class="close" aria-label="Close the explanation" onClick={onClose}>
          ✕
        </button>
      </header>
      <div class="panel-body" tabIndex={0} role="region" aria-label="Explanation">
        {children}
        {error !== '' && (
          <p class="panel-error" role="status">
            {error}
          </p>
        )}
        {text === '' && error === '' ? <p class="dim">Asking the leader …</p> : <pre class="explanation">{text}</pre>}
      </div>
    </aside>
  );
}
