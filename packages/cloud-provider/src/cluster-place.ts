/**
 * What a 404 proves. In another account, project, region or vCenter all machines of a cluster seem to be gone: clouds answer "not found"
 * for what one may not see. So a "not found" counts only in the place of which it is known that it is the cluster's.
 */
import type { CallContext } from './call-context.ts';
import { CloudError } from './errors.ts';
import type { InstanceResult } from './instances.ts';
import type { PartAnswer } from './load-balancers.ts';

export interface ClusterPlaceOptions {
  /** What a place is in this cloud, for messages: `project and region`, `account`, `vCenter`. */
  readonly what: string;
  /** What a machine is called in this cloud. Default: `machine`. */
  readonly machine?: string;
  /** Where a person says which it is: `tenant and region in [Global] of cloud.conf`. */
  readonly setBy: string;
  /**
   * Asks the cloud which place the credentials lead to. Called once, when it is first needed, and again after it failed and after
   * `reconfigured`. Default: the provider says it with `admit`.
   */
  readonly ask?: (call: CallContext) => Promise<string>;
}

/** A machine that the cloud says it does not have. */
export interface GoneMachine {
  /** The cloud's own ID. */
  readonly id: string;
  /** The call and the answer. */
  readonly proof: string;
  /** Whether the cloud still remembers that it had this machine: a witness too. Asked only where there is no other. */
  readonly remembers?: () => Promise<boolean>;
}

/** A part of a load balancer that the cloud says it does not have. */
export interface GonePart {
  readonly kind: string;
  /** The cloud's own ID, or the name that was asked for. */
  readonly id: string;
  readonly proof: string;
  /** The program has started a moment ago, so that the nodes may not have been looked up yet. */
  readonly isEarly: boolean;
}

const ASK_AGAIN_MS = 5_000;

/**
 * Where the cluster's machines are, and whether any of them has been seen there. One for the life of a provider: the first place is kept
 * whatever a changed cloud config says, and until a witness is there, it may be the wrong one, and a 404 proves nothing. Witnesses
 * are a machine that has the ID of a node, this very machine or part seen before, and the cloud's own memory of it. What
 * carries this cluster's tags is none: a program that was started with a wrong config may have made that there.
 */
export class ClusterPlace {
  readonly #options: ClusterPlaceOptions;
  #place: string | undefined;
  /** The place is that of the credentials in use. */
  #isAsked = false;
  #asking: Promise<string> | undefined;
  /** Grows with each change of the credentials. */
  #configuration = 0;
  #sawAny = false;
  /** Machines that were found by the names of nodes: others may have these names elsewhere. */
  readonly #byName = new Set<string>();
  /** All parts of load balancers that were seen or made here, of which there are as many as the cluster has ever had. */
  readonly #parts = new Set<string>();
  #isDoubted = false;

  constructor(options: ClusterPlaceOptions) {
    this.#options = options;
  }

  /** For `InstanceAnswer.place`; `undefined` before it is known. */
  get place(): string | undefined {
    return this.#place;
  }

  /**
   * The credentials lead here: call it before anything is asked with them. Throws a `CloudError` `configuration` for another place than
   * before; one that is in doubt may be left. `place`: any text that is the same for the same place, for people; no secret.
   */
  admit(place: string): void {
    const isOther = this.#place !== undefined && this.#place !== place;
    if (isOther && !this.#isDoubted) {
      throw new CloudError(
        'configuration',
        `the cloud config leads to ${place}, and this cluster is in ${this.#place}: nothing is asked there, as all of the cluster would seem to be gone; correct ${this.#options.setBy}, or restart the program if the cluster has moved`,
      );
    }
    this.#place = place;
    this.#isAsked = true;
    if (!isOther) return;
    this.#isDoubted = false;
    this.#byName.clear();
    this.#parts.clear();
  }

  /**
   * Other credentials are in use from now on: `ask` has to say again where they lead before the next 404 counts. Needed with `ask` alone.
   * What was seen before any place was known may have been elsewhere, and is a witness no more.
   */
  reconfigured(): void {
    this.#configuration++;
    this.#isAsked = false;
    this.#asking = undefined;
    if (this.#place !== undefined) return;
    this.#sawAny = false;
    this.#byName.clear();
    this.#parts.clear();
  }

  /** The place, asked for where it is not known yet. Throws a `CloudError` `configuration` where it is another than before. */
  async learn(call: CallContext): Promise<string | undefined> {
    const { ask } = this.#options;
    if (!ask) return this.#place;
    while (!this.#isAsked) {
      const configuration = this.#configuration;
      const asking = (this.#asking ??= ask(call));
      let place: string;
      try {
        place = await asking;
      } finally {
        if (asking === this.#asking) this.#asking = undefined;
      }
      // Else it was asked with credentials that are no longer in use.
      if (configuration === this.#configuration) this.admit(place);
    }
    return this.#place;
  }

  /** A node has the ID of a machine that is here. */
  sawById(): void {
    this.#sawAny = true;
    this.#isDoubted = false;
    this.#byName.clear();
  }

  /** A machine of the name of a node is here, and has this ID. */
  sawByName(id: string): void {
    if (!this.#sawAny) this.#byName.add(id);
  }

  /** A part of a load balancer is here, or was made here just now: clusters whose nodes are no machines of this cloud have them too. */
  sawPart(id: string): void {
    this.#parts.add(id);
  }

  /** `absent`, where the cloud's "no such machine" proves it. Throws a `CloudError` `configuration` where it does not. */
  async machineGone(
    { id, proof, remembers }: GoneMachine,
    call: CallContext,
  ): Promise<Extract<InstanceResult, { kind: 'absent' }>> {
    const place = await this.learn(call);
    if (this.#sawAny || this.#byName.has(id)) return { kind: 'absent', proof };
    const sentence = proof.endsWith('.') ? proof : `${proof}.`;
    // Of a place that was left meanwhile, it says nothing of the next.
    if ((await remembers?.()) && place === this.#place) {
      this.sawById();
      return { kind: 'absent', proof: `${sentence} The cloud still remembers it here.`, wasHere: true };
    }
    const { machine = 'machine', setBy, what } = this.#options;
    throw this.#doubtful(
      `${sentence} No ${machine} of this cluster has been seen in this ${what} yet, so nothing is concluded: check ${setBy}; if all ${machine}s of the cluster are gone, delete their nodes by hand`,
      `A ${machine} is not here, and no other of this cluster: is this its ${what}?`,
      call,
    );
  }

  /**
   * `absent`, where the cloud's "no such thing" proves it. Throws a `CloudError` where it does not: `retry-after` while nodes may not
   * have been looked up yet, `configuration` after that.
   */
  async partGone(
    { id, isEarly, kind, proof }: GonePart,
    call: CallContext,
  ): Promise<Extract<PartAnswer, { kind: 'absent' }>> {
    await this.learn(call);
    if (this.#sawAny || this.#parts.has(id)) return { kind: 'absent', proof };
    const { machine = 'machine', setBy, what } = this.#options;
    if (isEarly) {
      const text = `${kind} ${id} is not here, and no ${machine} of this cluster has been looked up yet; it is asked for again`;
      throw new CloudError('retry-after', text, { retryAfterMs: ASK_AGAIN_MS });
    }
    throw this.#doubtful(
      `${proof}. Neither it nor a ${machine} of this cluster has been seen in this ${what} since the start, so nothing is concluded: check ${setBy}`,
      `A load balancer is not here, and no ${machine} of this cluster: is this its ${what}?`,
      call,
    );
  }

  /** This may be the wrong place. Returns whether that is news. */
  doubt(): boolean {
    const isNews = !this.#sawAny && !this.#isDoubted;
    this.#isDoubted ||= isNews;
    return isNews;
  }

  /** Logged once: whoever asks again gets the same answer for as long as nobody corrects anything. */
  #doubtful(message: string, news: string, call: CallContext): CloudError {
    const error = new CloudError('configuration', message);
    if (this.doubt()) call.logger.error(news, { error });
    return error;
  }
}
