/** Which of several clouds a node without a provider ID belongs to: from the answers of all of them to one answer for one. */
import { CloudError, isCloudError } from '@outrigger/cloud-provider';
import type { DatedAnswer } from './answer-defaults.ts';

/** So long after a cloud was last heard the others wait for it. Then one that has the machine acts without it. */
export const PATIENCE_MS = 5_000;
const RETRY_MS = 1_000;

/** What one cloud said; `undefined`: no answer yet. */
export interface CloudsAnswer {
  readonly cloud: string;
  /** Monotonic. */
  readonly askedAt: number;
  readonly answer: DatedAnswer | undefined;
}

export interface Judged {
  readonly node: { readonly name: string; readonly uid: string };
  /** For which cloud's controllers the answer is. Its own answer is there. */
  readonly cloud: string;
  /** In the order of `--cloud-provider`, the asking one among them. */
  readonly answers: readonly CloudsAnswer[];
  /** Monotonic. */
  readonly now: number;
}

export class NodeClaims {
  /** By UID: the cloud that was told to act, and when last; monotonic. */
  readonly #claims = new Map<string, { readonly cloud: string; readonly since: number }>();
  /** By cloud: when the first question was put to it that it has not answered since; monotonic. */
  readonly #unheardSince = new Map<string, number>();
  /** By UID: since when one cloud has it and another gives no answer; monotonic. */
  readonly #waitingSince = new Map<string, number>();

  asked(cloud: string, now: number): void {
    if (!this.#unheardSince.has(cloud)) this.#unheardSince.set(cloud, now);
  }

  heard(cloud: string, { result }: DatedAnswer): void {
    if (result.kind !== 'failed') this.#unheardSince.delete(cloud);
  }

  /** For how long its answer is still waited for, in milliseconds. */
  patienceMs({ askedAt, cloud }: Omit<CloudsAnswer, 'answer'>, now: number): number {
    return Math.max(0, (this.#unheardSince.get(cloud) ?? askedAt) + PATIENCE_MS - now);
  }

  forget(uid: string): void {
    this.#claims.delete(uid);
    this.#waitingSince.delete(uid);
  }

  /** See the table in docs/adr: "Several providers". */
  judge(judged: Judged): DatedAnswer {
    const { answers, cloud, node } = judged;
    const own = answers.find((one) => one.cloud === cloud)?.answer;
    const asOf = Math.min(...answers.map(({ answer }) => answer?.asOf ?? Infinity));
    const answered = (result: DatedAnswer['result']): DatedAnswer => ({ asOf, result });
    const failed = (error: Error): DatedAnswer => answered({ kind: 'failed', error });

    const claim = this.#claims.get(node.uid);
    const later = answers.find((one) => one.cloud === claim?.cloud)?.answer;
    // What it said before says nothing about what it has said since.
    if (claim && later && later.asOf > claim.since && ['missing', 'absent'].includes(later.result.kind)) {
      this.#claims.delete(node.uid);
    }

    const having = answers.filter(({ answer }) => answer?.result.kind === 'found').map((one) => one.cloud);
    if (having.length > 1) {
      // One of them tells. Who has claimed it before still has: what it was told may be on its way.
      return failed(cloud === having[0] ? ambiguous(node.name, having) : elsewhere(node.name, having));
    }
    if (own?.result.kind === 'found') return this.#claim(judged, own, failed);
    if (having.length > 0) return failed(elsewhere(node.name, having));
    return cloud === answers[0]?.cloud ? ofAll(judged, answered) : failed(elsewhere(node.name, []));
  }

  #claim({ answers, cloud, node, now }: Judged, own: DatedAnswer, failed: (error: Error) => DatedAnswer): DatedAnswer {
    const claimant = this.#claims.get(node.uid)?.cloud;
    if (claimant !== undefined && claimant !== cloud) return failed(elsewhere(node.name, [claimant]));
    const unknown = answers.filter((one) => one.cloud !== cloud && isUnknown(one));
    if (claimant === undefined && unknown.length > 0) {
      const since = this.#waitingSince.get(node.uid) ?? now;
      this.#waitingSince.set(node.uid, since);
      // One that always fails for this one node is waited for no longer than one that is silent.
      if (now < since + PATIENCE_MS && unknown.some((one) => this.patienceMs(one, now) > 0)) {
        const clouds = unknown.map((one) => one.cloud).join(', ');
        const text = `the cloud ${cloud} has a machine of the name ${node.name}; whether ${clouds} has one too is waited for`;
        return failed(new CloudError('retry-after', text, { retryAfterMs: RETRY_MS }));
      }
    }
    this.#waitingSince.delete(node.uid);
    // Each time anew: what its cloud said before it was told to act again says nothing about that.
    this.#claims.set(node.uid, { cloud, since: now });
    return own;
  }
}

/** No cloud is known to have it. Missing is not absent, and one cloud that was not heard is enough to know nothing. */
function ofAll({ answers, node }: Judged, answered: (result: DatedAnswer['result']) => DatedAnswer): DatedAnswer {
  const [first] = answers;
  if (first?.answer?.result.kind === 'failed' && isCloudError(first.answer.result.error, 'implemented-elsewhere')) {
    return first.answer;
  }
  const unknown = answers.filter(isUnknown);
  if (unknown.length > 0) {
    const why = unknown.map(({ cloud, answer }) => `${cloud} (${reasonOf(answer)})`).join(', ');
    const text = `it is not known whether there is a machine for node ${node.name}: no answer of the cloud ${why}`;
    return answered({ kind: 'failed', error: new CloudError('unavailable', text) });
  }
  const results = answers.map(({ answer, cloud }) => ({ cloud, result: answer?.result }));
  const proofs = results.flatMap(({ cloud, result }) =>
    result?.kind === 'absent' ? [`${cloud}: ${result.proof}`] : [],
  );
  return answered(
    proofs.length === results.length ? { kind: 'absent', proof: proofs.join('; ') } : { kind: 'missing' },
  );
}

function isUnknown({ answer }: CloudsAnswer): boolean {
  return answer === undefined || answer.result.kind === 'failed';
}

/** The message of any other error may hold what no Event should. */
function reasonOf(answer: DatedAnswer | undefined): string {
  if (answer?.result.kind !== 'failed') return 'none yet';
  const { error } = answer.result;
  return isCloudError(error) ? `${error.message}, ${error.code}` : 'see the log for the error';
}

function ambiguous(name: string, clouds: readonly string[]): CloudError {
  return new CloudError('conflict', `each of the clouds ${clouds.join(', ')} has a machine for node ${name}`);
}

function elsewhere(name: string, clouds: readonly string[]): CloudError {
  const whose =
    clouds.length > 0 ? `is managed with ${clouds.join(', ')}` : 'has no cloud yet, which the first one says';
  return new CloudError('implemented-elsewhere', `node ${name} ${whose}`);
}
