/** How the whole stands: who leads, what is wrong and what to do about it, and what the cloud is asked. */
import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import type { BudgetSample, Facts, NodeRow, RouteRow, ServiceRow, StatusProblem } from '../src/view-types.ts';
import { Chart } from './chart.tsx';
import { Count } from './pieces.tsx';
import { stateWord } from './words.ts';

export interface OverviewProps {
  readonly facts: Partial<Facts>;
  readonly nodes: ReadonlyMap<string, NodeRow>;
  readonly services: ReadonlyMap<string, ServiceRow>;
  readonly routes: ReadonlyMap<string, RouteRow>;
  readonly orphans: number;
  /** Of what is counted. */
  readonly version: string;
  readonly onGo: (view: string, filter: string) => void;
}

export function Overview({ facts, nodes, onGo, orphans, routes, services, version }: OverviewProps): JSX.Element {
  const counts = useMemo(() => {
    const tally = (rows: ReadonlyMap<string, { readonly state: string }>): ReadonlyMap<string, number> => {
      const sums = new Map<string, number>();
      for (const { state } of rows.values()) sums.set(state, (sums.get(state) ?? 0) + 1);
      return sums;
    };
    return { nodes: tally(nodes), services: tally(services), routes: tally(routes) };
  }, [version]);
  return (
    <div class="scroll">
      <div class="cards">
        <Card
          title="Nodes"
          total={nodes.size}
          counts={counts.nodes}
          states={['ready', 'waiting', 'not-ready', 'held']}
          onGo={(filter) => onGo('nodes', filter)}
        />
        <Card
          title="Services"
          total={services.size}
          counts={counts.services}
          states={['ready', 'waiting', 'failing']}
          onGo={(filter) => onGo('services', filter)}
        />
        <Card
          title="Routes"
          total={routes.size}
          counts={counts.routes}
          states={['owned', 'missing', 'foreign']}
          onGo={(filter) => onGo('routes', filter)}
        />
        <Card title="Orphans" total={orphans} counts={new Map()} states={[]} onGo={() => onGo('held', '')} />
      </div>
      <Problems problems={facts.problems} />
      <div class="columns">
        <section class="card">
          <h2>Manager</h2>
          <dl class="items">
            {(facts.items ?? []).map(({ name, state, text }) => (
              <div key={name} class="item">
                <dt>{name}</dt>
                <dd class={state === 'error' ? 'bad' : state === 'unknown' ? 'dim' : ''}>
                  {state === 'error' && <span aria-hidden="true">▲ </span>}
                  {text}
                </dd>
              </div>
            ))}
          </dl>
          {!facts.items && <p class="dim">Nothing is known yet.</p>}
        </section>
        <Budget samples={facts.budget ?? []} />
      </div>
    </div>
  );
}

interface CardProps {
  readonly title: string;
  readonly total: number;
  readonly counts: ReadonlyMap<string, number>;
  readonly states: readonly string[];
  readonly onGo: (filter: string) => void;
}

function Card({ counts, onGo, states, title, total }: CardProps): JSX.Element {
  return (
    <section class="card" aria-label={title}>
      <button type="button" class="card-head" onClick={() => onGo('')}>
        <span>{title}</span>
        <span class="card-total">{total.toLocaleString('en')}</span>
      </button>
      <div class="counts">
        {states.map((state) => (
          <button type="button" key={state} class="plain" onClick={() => onGo(`state:${state}`)}>
            <Count label={stateWord(state).label} value={counts.get(state) ?? 0} state={state} />
          </button>
        ))}
      </div>
    </section>
  );
}

function Problems({ problems }: { readonly problems: readonly StatusProblem[] | undefined }): JSX.Element {
  if (!problems) return <p class="calm dim">Looking for problems …</p>;
  if (problems.length === 0) {
    return (
      <p class="calm">
        <span class="state good">
          <span aria-hidden="true">●</span>
        </span>{' '}
        No problems
      </p>
    );
  }
  return (
    <section aria-label="Problems">
      <ul class="problems">
        {problems.map(({ about, commands, message, remedy, runbook, severity }) => (
          <li key={`${about} ${message}`} class={`problem ${severity}`}>
            <p>
              <span class={`state ${severity === 'error' ? 'bad' : 'busy'}`}>
                <span aria-hidden="true">▲</span> {severity === 'error' ? 'Error' : 'Warning'}
              </span>{' '}
              {about !== undefined && <strong>{about}: </strong>}
              {message}
            </p>
            {remedy !== undefined && <p class="remedy">{remedy}</p>}
            {commands.map((command) => (
              <pre key={command} class="command">
                {command}
              </pre>
            ))}
            {runbook !== undefined && <p class="dim">Runbook: {runbook}</p>}
          </li>
        ))}
      </ul>
    </section>
  );
}

function Budget({ samples }: { readonly samples: readonly BudgetSample[] }): JSX.Element {
  const last = samples.at(-1);
  return (
    <section class="card">
      <h2>Requests to the cloud</h2>
      {last ? (
        <>
          <p class="budget-now">
            <span class="card-total">{last.perMinute.toLocaleString('en')}</span> a minute
            {last.throttledPerMinute > 0 && <span class="bad"> · {last.throttledPerMinute} throttled</span>}
          </p>
          <Chart samples={samples} />
        </>
      ) : (
        <p class="dim">The first value is there after two readings of the leader's metrics.</p>
      )}
    </section>
  );
}
