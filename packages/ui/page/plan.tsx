/** What a dry run would do now. */
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { Change, Planned } from '../src/view-types.ts';
import { Empty } from './pieces.tsx';
import { ask } from './session.ts';
import { age } from './words.ts';

export interface PlanProps {
  readonly dryRun: boolean;
  readonly now: number;
  readonly onOpen: (kind: string, name: string) => void;
}

const REFRESH_MS = 3_000;

export function Plan({ dryRun, now, onOpen }: PlanProps): JSX.Element {
  const [planned, setPlanned] = useState<readonly Planned[] | undefined>();
  const [error, setError] = useState('');
  useEffect(() => {
    if (!dryRun) return undefined;
    const read = (): void => {
      ask('/api/plan')
        .then(async (answer) => {
          setPlanned((await answer.json()) as readonly Planned[]);
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
  if (planned.length === 0) return <Empty title="Nothing is planned">The cluster and the cloud are up to date.</Empty>;
  return (
    <div class="scroll">
      <ul class="list">
        {planned.map(({ actions, controller, explanation, since, subject }) => (
          <li key={`${controller} ${subject.kind} ${subject.name}`} class="plan-item">
            <p>
              <Name subject={subject} explanation={explanation} onOpen={onOpen} />{' '}
              <span class="dim">
                {controller}, for {age(Date.parse(since), now)}
              </span>
            </p>
            <ul>
              {actions.map(({ changes = [], summary }) => (
                <li key={summary}>
                  {summary}
                  {changes.length > 0 && <pre class="changes">{changes.map(lineOf).join('\n')}</pre>}
                </li>
              ))}
            </ul>
          </li>
        ))}
      </ul>
    </div>
  );
}

function Name({
  explanation,
  onOpen,
  subject: { kind, name },
}: Pick<Planned, 'explanation' | 'subject'> & Pick<PlanProps, 'onOpen'>): JSX.Element {
  const title = `${kind} ${name}`;
  if (!explanation) return <strong>{title}</strong>;
  return (
    <button type="button" class="link" onClick={() => onOpen(explanation.kind, explanation.name)}>
      {title}
    </button>
  );
}

/** As `--dry-run --once` prints it. */
function lineOf({ field, from = '(none)', to = '(none)' }: Change): string {
  return `${field}: ${from} → ${to}`;
}
