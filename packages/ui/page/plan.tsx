/** What a dry run would do now. */
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Empty } from './pieces.tsx';
import { age } from './words.ts';

interface Planned {
  readonly controller: string;
  readonly subject: { readonly kind: string; readonly name: string };
  readonly since: string;
  readonly actions: readonly { readonly summary: string }[];
}

const REFRESH_MS = 3_000;

export function Plan({ dryRun, now }: { readonly dryRun: boolean; readonly now: number }): JSX.Element {
  const [planned, setPlanned] = useState<readonly Planned[] | undefined>();
  const [error, setError] = useState('');
  useEffect(() => {
    if (!dryRun) return undefined;
    const read = (): void => {
      fetch('/api/plan')
        .then(async (response) => {
          if (!response.ok) throw new Error(await response.text());
          setPlanned(((await response.json()) as { planned: readonly Planned[] }).planned);
          setError('');
        })
        .catch((thrown: Error) => setError(thrown.message));
    };
    read();
    const timer = setInterval(read, REFRESH_MS);
    return () => clearInterval(timer);
  }, [dryRun]);
  if (!dryRun)
    return (
      <Empty title="This manager applies its plans">Started with --dry-run, it shows here what it would do.</Empty>
    );
  if (error !== '') return <Empty title="The plan cannot be read">{error}</Empty>;
  if (!planned) return <Empty title="Reading the plan …" />;
  if (planned.length === 0)
    return <Empty title="Nothing is planned">The cluster and the cloud are as they should be.</Empty>;
  return (
    <div class="scroll">
      <ul class="list">
        {planned.map(({ actions, controller, since, subject }) => (
          <li key={`${controller} ${subject.kind} ${subject.name}`} class="plan-item">
            <p>
              <strong>
                {subject.kind} {subject.name}
              </strong>{' '}
              <span class="dim">
                {controller}, for {age(Date.parse(since), now)}
              </span>
            </p>
            <ul>
              {actions.map(({ summary }) => (
                <li key={summary}>{summary}</li>
              ))}
            </ul>
          </li>
        ))}
      </ul>
    </div>
  );
}
