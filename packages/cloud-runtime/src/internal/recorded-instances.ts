/** Instances for tests: each look-up waits until the test answers it, or it is aborted. */
import type { CallContext, InstanceAnswer, InstanceNeed, Instances, NodeRef } from '@outrigger/cloud-provider';
import { silentLogger, type Clock } from '@outrigger/kube';
import type { MakeCallContext } from '../make-call-context.ts';

export interface RecordedLookUp {
  readonly nodes: readonly NodeRef[];
  readonly need: InstanceNeed;
  readonly call: CallContext;
  answer(answers: readonly InstanceAnswer[]): void;
  fail(error: Error): void;
}

export class RecordedInstances implements Instances {
  readonly batchSize: number | undefined;
  readonly lookUps: RecordedLookUp[] = [];
  readonly reads: RecordedLookUp[] = [];
  machineOf?: (providerID: string) => string | undefined;
  inFlight = 0;
  mostInFlight = 0;

  /** `null`: it says none. */
  constructor(batchSize: number | null = 500) {
    this.batchSize = batchSize ?? undefined;
  }

  lookUp(nodes: readonly NodeRef[], need: InstanceNeed, call: CallContext): Promise<readonly InstanceAnswer[]> {
    this.inFlight++;
    this.mostInFlight = Math.max(this.mostInFlight, this.inFlight);
    return this.#record(this.lookUps, nodes, need, call).finally(() => void this.inFlight--);
  }

  async read(node: NodeRef, need: InstanceNeed, call: CallContext): Promise<InstanceAnswer> {
    const [answer] = await this.#record(this.reads, [node], need, call);
    return answer as InstanceAnswer;
  }

  #record(
    into: RecordedLookUp[],
    nodes: readonly NodeRef[],
    need: InstanceNeed,
    call: CallContext,
  ): Promise<readonly InstanceAnswer[]> {
    return new Promise((resolve, reject) => {
      into.push({ nodes, need, call, answer: resolve, fail: reject });
      call.signal.addEventListener('abort', () => reject(call.signal.reason as Error), { once: true });
    });
  }
}

export const plainContext: MakeCallContext = ({ signal, priority }) => ({
  signal,
  priority,
  logger: silentLogger,
  call: (_operation, send) => send(signal),
});

export function nodeRef(name: string, uid: string = `uid-${name}`): NodeRef {
  return { name, uid, labels: {}, annotations: {} };
}

export function foundAt(clock: Pick<Clock, 'monotonic'>, { name }: NodeRef): InstanceAnswer {
  return {
    asOf: clock.monotonic(),
    result: { kind: 'found', instance: { providerID: `test://${name}`, state: 'running' } },
  };
}
