/** What `npm audit --json` says, held against the list of what is accepted. Pure. */

export interface Advisory {
  /** `GHSA-…`. */
  readonly id: string;
  readonly package: string;
  readonly severity: string;
  readonly title: string;
  /** Whether it is of a production dependency, and not of a tool that builds or tests. */
  readonly shipped: boolean;
}

/** Those of a tool that are told, and no more. */
const LESSER_SEVERITIES: readonly string[] = ['info', 'low', 'moderate'];

/** In place of an advisory: that nobody says whether there are any. */
const UNKNOWN = 'unknown';

/** What OpenVEX knows. */
const JUSTIFICATIONS = [
  'component_not_present',
  'vulnerable_code_not_present',
  'vulnerable_code_not_in_execute_path',
  'vulnerable_code_cannot_be_controlled_by_adversary',
  'inline_mitigations_already_exist',
] as const;
type Justification = (typeof JUSTIFICATIONS)[number];

/** An entry of `docs/advisories.json`. */
export interface Acceptance {
  /** `GHSA-…`, or `UNKNOWN`. */
  readonly id: string;
  /** Why it does no harm here. */
  readonly reason: string;
  /** The same in a word that scanners know, for the release's VEX document. `UNKNOWN` has none. */
  readonly justification?: Justification;
  /** Date after which it has to be looked at again: `2026-12-31`. */
  readonly until: string;
}

export type Answer =
  | { readonly kind: 'known'; readonly advisories: readonly Advisory[] }
  /** Nobody has said whether there are any: that is not the same as none. */
  | { readonly kind: 'unknown'; readonly reason: string };

export interface Judgement<Found extends Advisory = Advisory> {
  /** Not accepted: any of what is shipped, those of tools that are high or critical. */
  readonly refused: readonly Found[];
  readonly accepted: readonly Found[];
  /** Lesser ones of tools. */
  readonly others: readonly Found[];
  /** Accepted, and reported no more. */
  readonly idle: readonly Acceptance[];
}

const IDENTIFIER = /GHSA(?:-[0-9a-z]{4}){3}$/u;

/** Of `package-lock.json`, the places where something is installed for development alone. */
export function toolsIn(lockFile: string): ReadonlySet<string> {
  const { packages } = JSON.parse(lockFile) as {
    readonly packages: Readonly<Record<string, { readonly dev?: boolean }>>;
  };
  return new Set(Object.keys(packages).filter((place) => packages[place]?.dev === true));
}

/** `stdout` of npm 7 or later; `tools`: places of packages, as of `toolsIn`. Whatever is not a report of it is `unknown`. */
export function readAudit(stdout: string, tools: ReadonlySet<string>): Answer {
  const unknown = (reason: string): Answer => ({ kind: 'unknown', reason });
  let report: unknown;
  try {
    report = JSON.parse(stdout);
  } catch {
    return unknown('npm audit printed no JSON');
  }
  if (!isObject(report)) return unknown('npm audit printed no report');
  if (typeof report['message'] === 'string') return unknown(report['message'].replaceAll(/https?:\S+/gu, '').trim());
  const { vulnerabilities } = report;
  if (report['auditReportVersion'] !== 2 || !isObject(vulnerabilities))
    return unknown('npm audit printed another kind of report');
  const found = new Map<string, Advisory>();
  for (const entry of Object.values(vulnerabilities)) {
    const causes: unknown = isObject(entry) ? entry['via'] : undefined;
    if (!Array.isArray(causes)) return unknown('npm audit printed a vulnerability without a cause');
    const places: unknown = isObject(entry) ? entry['nodes'] : undefined;
    // What is not said to be a tool is taken for shipped.
    const isTool = Array.isArray(places) && places.length > 0 && places.every((place) => tools.has(place as string));
    for (const cause of causes as readonly unknown[]) {
      // A name stands for another entry, which has the cause.
      if (typeof cause === 'string') continue;
      const advisory = advisoryOf(cause, !isTool);
      if (!advisory) return unknown('npm audit printed an advisory that is not understood');
      found.set(`${advisory.package} ${advisory.id}`, advisory);
    }
  }
  return { kind: 'known', advisories: [...found.values()].sort((a, b) => a.id.localeCompare(b.id)) };
}

/** `today`: `2026-12-31`. */
export function judgeAdvisories<Found extends Advisory>(
  advisories: readonly Found[],
  acceptances: readonly Acceptance[],
  today: string,
): Judgement<Found> {
  const isAccepted = ({ id }: Advisory): boolean => acceptances.some((one) => one.id === id && today <= one.until);
  const isLesser = ({ severity, shipped }: Advisory): boolean => !shipped && LESSER_SEVERITIES.includes(severity);
  const open = advisories.filter((one) => !isAccepted(one));
  return {
    refused: open.filter((one) => !isLesser(one)),
    accepted: advisories.filter(isAccepted),
    others: open.filter(isLesser),
    idle: acceptances.filter(({ id }) => id !== UNKNOWN && !advisories.some((one) => one.id === id)),
  };
}

/** Whether it is accepted today that nobody says. */
export function acceptsUnknown(acceptances: readonly Acceptance[], today: string): boolean {
  return acceptances.some(({ id, until }) => id === UNKNOWN && today <= until);
}

/** Reads `docs/advisories.json`. Throws what is wrong with which entry. */
export function readAcceptances(text: string): readonly Acceptance[] {
  const list: unknown = JSON.parse(text);
  if (!Array.isArray(list)) throw new Error('the list of accepted advisories must be an array');
  return (list as readonly unknown[]).map((entry, index) => {
    const { id, justification, reason, until } = isObject(entry) ? entry : {};
    if (typeof id !== 'string' || (id !== UNKNOWN && !IDENTIFIER.test(id)))
      throw new Error(`entry ${index}: "id" must be GHSA-xxxx-xxxx-xxxx, or ${UNKNOWN}`);
    if (typeof reason !== 'string' || reason.trim().length < 10)
      throw new Error(`entry ${index} (${id}): "reason" must say why it does no harm`);
    if (typeof until !== 'string' || !isDate(until))
      throw new Error(`entry ${index} (${id}): "until" must be a date like 2026-12-31`);
    if (id === UNKNOWN) return { id, reason, until };
    const known = JUSTIFICATIONS.find((one) => one === justification);
    if (known === undefined)
      throw new Error(`entry ${index} (${id}): "justification" must be one of ${JUSTIFICATIONS.join(', ')}`);
    return { id, reason, justification: known, until };
  });
}

function advisoryOf(cause: unknown, shipped: boolean): Advisory | undefined {
  if (!isObject(cause)) return undefined;
  const { name, severity, source, title, url } = cause;
  if (typeof name !== 'string' || typeof severity !== 'string') return undefined;
  const id = (typeof url === 'string' && IDENTIFIER.exec(url)?.[0]) || `npm-${String(source)}`;
  return { id, package: name, severity, title: typeof title === 'string' ? title : '', shipped };
}

function isDate(text: string): boolean {
  return /^\d{4}-\d\d-\d\d$/u.test(text) && !Number.isNaN(Date.parse(text));
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
