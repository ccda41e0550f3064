/** Holds a repository against what Kubernetes asks of one, item by item. */
import { Repository } from './repository.ts';
import { REQUIREMENTS, type Requirement } from './requirements.ts';

export interface Finding extends Pick<Requirement, 'id' | 'level' | 'quote' | 'source'> {
  /** `elsewhere`: met at another place, which `provider.yaml` names. `not-applicable`: nothing in this repository is concerned. */
  readonly outcome: 'met' | 'elsewhere' | 'missed' | 'not-applicable';
  /** What is there, in one line. */
  readonly found: string;
  /** Of what is missed: what to do. */
  readonly todo?: string;
}

export interface RepositoryReport {
  readonly directory: string;
  /** Of the provider, where its card says it. */
  readonly name?: string;
  /** Whether no `must` is missed. */
  readonly passed: boolean;
  /** In the order of the requirements. */
  readonly findings: readonly Finding[];
}

/** Throws an `Error` where there is no such folder. */
export function lintRepository(directory: string): RepositoryReport {
  const repository = new Repository(directory);
  const { card } = repository;
  const findings = REQUIREMENTS.map((requirement) => judge(requirement, repository));
  return {
    directory: repository.directory,
    ...(!(card instanceof Error) && { name: card.name }),
    passed: findings.every(({ level, outcome }) => level !== 'must' || outcome !== 'missed'),
    findings,
  };
}

function judge({ id, level, look, place, quote, source, todo }: Requirement, repository: Repository): Finding {
  const { card } = repository;
  const other = card instanceof Error || place === undefined ? undefined : card.places[id];
  const { found, isMet } = look(repository, other ?? place ?? '');
  const finding = { id, level, quote, source };
  if (isMet === undefined) return { ...finding, outcome: 'not-applicable', found };
  if (!isMet) return { ...finding, outcome: 'missed', found, todo };
  if (other === undefined) return { ...finding, outcome: 'met', found };
  // There the place itself is what is asked for.
  const isHeld =
    !(card instanceof Error) && /^https:\/\/github\.com\/kubernetes(?:-sigs)?\//u.test(card.repository ?? '');
  if (level === 'must' && isHeld) {
    return {
      ...finding,
      outcome: 'missed',
      found: `it is in ${other}, and not in ${place}`,
      todo: `move it to ${place}`,
    };
  }
  return { ...finding, outcome: 'elsewhere', found: `${other}: ${found}` };
}
