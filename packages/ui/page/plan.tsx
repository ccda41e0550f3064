/** What a dry run would do now. */
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Empty } from './pieces.tsx';
import { age } from './words.ts';

interface Planned {
  readonly controller: string;
  readonly subject: { readonly kind: string; readonly name: string };
  readonly since: string;
  readonly actions: readonly { readonly summary: string; readonly changes?: readonly Change[] }[];
}

/** Of a field: JSON. Absent: it is not there. */
interface Change {
  readonly field: string;
  readonly from?: string;
  readonly to?: string;
}

/** As what each kind of object is explained; there is no explanation of the others. */
const EXPLAINED: Readonly<Record<string, string>> = {
  Node: 'node',
  Service: 'service',
  Route: 'route',
  LoadBalancerPart: 'service',
};

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
  if (planned.length === 0) return <Empty title="Nothing is planned">The cluster and the cloud are up to date.</Empty>;
  return (
    <div class="scroll">
      <ul class="list">
        {planned.map(({ actions, controller, since, subject }) => (
          <li key={`${controller} ${subject.kind} ${subject.name}`} class="plan-item">
            <p>
              <Name {...subject} onOpen={onOpen} />{' '}
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

function Name({ kind, name, onOpen }: Planned['subject'] & Pick<PlanProps, 'onOpen'>): JSX.Element {
  // One that is deleted is known by what it has left in the cloud alone.
  const explained = name.endsWith(' (deleted)') ? undefined : EXPLAINED[kind];
  const title = `${kind} ${name}`;
  if (explained === undefined) return <strong>{title}</strong>;
  return (
    <button type="button" class="link" onClick={() => onOpen(explained, name)}>
      {title}
    </button>
  );
}

/** As `--dry-run --once` prints it. */
function lineOf({ field, from = '(none)', to = '(none)' }: Change): string {
  return `${field}: ${from} → ${to}`;
}
