/** The page: its frame, which view is shown, and keys that work everywhere. */
import { render, type JSX } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { Explanation } from './explanation.tsx';
import { Held } from './held.tsx';
import { Nodes } from './nodes.tsx';
import { Overview } from './overview.tsx';
import { Plan } from './plan.tsx';
import { Empty } from './pieces.tsx';
import { Routes } from './routes.tsx';
import { Services, ServiceTree } from './services.tsx';
import { openSession } from './session.ts';
import { connect, newState, type PageState } from './state.ts';
import { age } from './words.ts';

const VIEWS = {
  overview: 'Overview',
  nodes: 'Nodes',
  services: 'Services',
  routes: 'Routes',
  held: 'Held & orphans',
  plan: 'Plan',
};
type View = keyof typeof VIEWS;
const FILTERED: readonly View[] = ['nodes', 'services', 'routes'];

interface Place {
  readonly view: View;
  readonly filter: string;
  /** What is explained. */
  readonly open?: { readonly kind: string; readonly name: string } | undefined;
}

/** `#nodes?filter=zone%3Aa&kind=node&name=n1` */
function placeOf(hash: string): Place {
  const [view = '', query = ''] = hash.slice(1).split('?', 2);
  const given = new URLSearchParams(query);
  const [kind, name] = [given.get('kind'), given.get('name')];
  return {
    view: view in VIEWS ? (view as View) : 'overview',
    filter: given.get('filter') ?? '',
    open: kind !== null && name !== null ? { kind, name } : undefined,
  };
}

function hashOf({ filter, open, view }: Place): string {
  const query = new URLSearchParams({ ...(filter !== '' && { filter }), ...open }).toString();
  return `#${view}${query === '' ? '' : `?${query}`}`;
}

function App({ state }: { readonly state: PageState }): JSX.Element {
  const [, redraw] = useState({});
  const [place, setPlace] = useState(placeOf(location.hash));
  const [now, setNow] = useState(Date.now());
  const filter = useRef<HTMLInputElement>(null);
  const main = useRef<HTMLElement>(null);
  const go = (to: Partial<Place>, replace = false): void => {
    const next = { ...place, ...to };
    if (replace) history.replaceState(undefined, '', hashOf(next));
    else history.pushState(undefined, '', hashOf(next));
    setPlace(next);
  };
  const close = (): void => {
    go({ open: undefined });
    main.current?.querySelector<HTMLElement>('[role=grid]')?.focus();
  };

  useEffect(() => connect(state, () => redraw({})), []);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    // The link of a command that was started anew, in the same tab, is no place.
    const moved = (): void =>
      location.hash.startsWith('#token=') ? location.reload() : setPlace(placeOf(location.hash));
    addEventListener('popstate', moved);
    return () => {
      clearInterval(timer);
      removeEventListener('popstate', moved);
    };
  }, []);
  // With what is shown and not after it is painted: a key that comes at once is one of this place.
  useLayoutEffect(() => {
    const press = (event: KeyboardEvent): void => {
      const isTyping = event.target instanceof HTMLInputElement;
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key === '/' && !isTyping && filter.current) {
        event.preventDefault();
        filter.current.focus();
      } else if (event.key === 'Escape') {
        if (place.open) close();
        else if (place.filter !== '') go({ filter: '' }, true);
        else if (isTyping) main.current?.querySelector<HTMLElement>('[role=grid]')?.focus();
      } else if (!isTyping && /^[1-6]$/u.test(event.key)) {
        go({ view: Object.keys(VIEWS)[Number(event.key) - 1] as View, filter: '', open: undefined });
      }
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  });

  const { facts, tables, versions } = state;
  const { nodes, orphans, routes, services } = tables;
  const held = [...nodes.values()].reduce((sum, one) => sum + Number(one.state === 'held'), 0);
  const badges: Partial<Record<View, number>> = {
    nodes: nodes.size,
    services: services.size,
    routes: routes.size,
    held: held + orphans.size,
  };
  const open = place.open;
  const common = { filter: place.filter, now, open: open?.name };
  const service = open?.kind === 'service' ? services.get(open.name) : undefined;
  return (
    <div class={`frame ${open ? 'with-panel' : ''}`}>
      <nav class="side" aria-label="Views">
        <p class="brand">
          <svg viewBox="0 0 24 24" aria-hidden="true" class="logo">
            <path d="M2 14h20l-3 5H5z" />
            <path d="M7 14V6l6 8" class="logo-sail" />
            <path d="M16 9h6" class="logo-arm" />
          </svg>
          Outrigger
        </p>
        <ul>
          {(Object.entries(VIEWS) as [View, string][]).map(([view, title]) => (
            <li key={view}>
              <a
                href={`#${view}`}
                aria-current={view === place.view ? 'page' : undefined}
                onClick={(event) => {
                  event.preventDefault();
                  go({ view, filter: '', open: undefined });
                }}
              >
                {title}
                {(badges[view] ?? 0) > 0 && <span class="badge">{badges[view]?.toLocaleString('en')}</span>}
              </a>
            </li>
          ))}
        </ul>
        <p class="keys">
          <kbd>/</kbd> filter <kbd>↑↓</kbd> move <kbd>Enter</kbd> explain <kbd>Esc</kbd> back
        </p>
      </nav>
      <main class="main" ref={main}>
        <header class="head">
          <h1>{VIEWS[place.view]}</h1>
          {FILTERED.includes(place.view) && (
            <input
              ref={filter}
              class="filter"
              type="search"
              placeholder="Filter …  /"
              aria-label={`Filter ${VIEWS[place.view]}`}
              value={place.filter}
              onInput={(event) => go({ filter: event.currentTarget.value }, true)}
              onKeyDown={(event) => {
                if (event.key !== 'Enter' && event.key !== 'ArrowDown') return;
                event.preventDefault();
                main.current?.querySelector<HTMLElement>('[role=grid]')?.focus();
              }}
            />
          )}
          <p class="source">
            {facts.dryRun && <span class="tag">dry run</span>}
            <span class="dim">{facts.leader?.url || facts.server}</span>
          </p>
        </header>
        <Trouble state={state} now={now} />
        <div class="view">
          {state.refused !== undefined && !state.isLoaded ? (
            <Empty title="This page may not be read">{state.refused}</Empty>
          ) : !state.isLoaded ? (
            <Empty title="Reading the cluster …" />
          ) : place.view === 'nodes' ? (
            <Nodes
              {...common}
              rows={nodes}
              version={versions.nodes}
              setFilter={(text) => go({ filter: text }, true)}
              onOpen={(name) => go({ open: { kind: 'node', name } })}
            />
          ) : place.view === 'services' ? (
            <Services
              {...common}
              rows={services}
              version={versions.services}
              onOpen={(name) => go({ open: { kind: 'service', name } })}
            />
          ) : place.view === 'routes' ? (
            <Routes
              {...common}
              open={[...routes.values()].find(({ destination, to }) => (destination || to) === open?.name)?.name}
              rows={routes}
              version={versions.routes}
              onOpen={({ destination, to }) =>
                go({ open: { kind: destination === '' ? 'node' : 'route', name: destination || to } })
              }
            />
          ) : place.view === 'held' ? (
            <Held nodes={nodes} orphans={orphans} now={now} onOpen={(kind, name) => go({ open: { kind, name } })} />
          ) : place.view === 'plan' ? (
            <Plan dryRun={facts.dryRun ?? false} now={now} onOpen={(kind, name) => go({ open: { kind, name } })} />
          ) : (
            <Overview
              facts={facts}
              nodes={nodes}
              services={services}
              routes={routes}
              orphans={orphans.size}
              version={Object.values(versions).join()}
              onGo={(view, text) => go({ view: view as View, filter: text, open: undefined })}
            />
          )}
        </div>
      </main>
      {open && (
        <Explanation kind={open.kind} name={open.name} onClose={close}>
          {service && <ServiceTree row={service} now={now} />}
        </Explanation>
      )}
    </div>
  );
}

/** Who does not answer, since when, and that what is shown is older. */
function Trouble({ now, state }: { readonly state: PageState; readonly now: number }): JSX.Element {
  const { facts, isLoaded, lostAt, refused } = state;
  const troubles: (readonly [string, number, string])[] = [];
  // What was read before is refused once another command serves there.
  if (lostAt !== undefined && (isLoaded || refused === undefined))
    troubles.push(['The command outrigger ui has ended', lostAt, 'Start it again, and open its new link.']);
  if (facts.api?.error !== undefined) troubles.push(['API server', facts.api.at, facts.api.error]);
  if (facts.leader?.error !== undefined) troubles.push(['Leader', facts.leader.at, facts.leader.error]);
  return (
    <div role="status" class="troubles">
      {troubles.map(([who, at, why]) => (
        <p key={who} class="trouble">
          <span aria-hidden="true">▲</span> <strong>{who}</strong>
          {who === 'The command outrigger ui has ended' ? '. ' : ' does not answer: '}
          {why}
          {at > 0 && <span class="dim"> What is shown was known {age(at, now)} ago.</span>}
        </p>
      ))}
    </div>
  );
}

const root = document.getElementById('app');
if (root) void openSession().then(() => render(<App state={newState()} />, root));
