/**
 * A user's fixture, of which each call ends in time, whether or not it heeds its signal: one that hangs must not hold up the run. What
 * it cannot do is no fault of the manager: `NotVerifiable`.
 */
import { withDeadline, type Clock } from '@outrigger/kube';
import type { ClusterFixture, ClusterMachine, ServiceIdentity } from './cluster-fixture.ts';
import { NotVerifiable } from './verdict.ts';

/**
 * `signal` of a call aborts when time has run out, too. Until then a call is waited for, also after an abort: what it has made or changed
 * has to be taken back. Disposing of the fixture itself stays with who opened it.
 */
export function boundedFixture(
  fixture: ClusterFixture,
  { clock, timeoutMs }: { readonly clock: Clock; readonly timeoutMs: number },
): ClusterFixture {
  const within = <T>(
    member: string,
    signal: AbortSignal | undefined,
    call: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> =>
    withDeadline(
      { clock, timeoutMs, what: `${member} of the fixture`, late: ({ message }) => new NotVerifiable(message) },
      async (late) => {
        try {
          return await call(signal ? AbortSignal.any([signal, late]) : late);
        } catch (error) {
          const message = error instanceof Error ? error.message : String(error);
          throw new NotVerifiable(`${member} of the fixture: ${message}`, { cause: error });
        }
      },
    );
  const bounded =
    <A, T>(member: string, call: (subject: A, signal: AbortSignal) => Promise<T>) =>
    (subject: A, signal: AbortSignal): Promise<T> =>
      within(member, signal, (either) => call(subject, either));
  return {
    ...(fixture.nodesFrom && { nodesFrom: fixture.nodesFrom }),
    makeMachine: bounded('makeMachine', (name: string, signal) => fixture.makeMachine(name, signal)),
    deleteMachine: bounded('deleteMachine', (machine: ClusterMachine, signal) =>
      fixture.deleteMachine(machine, signal),
    ),
    ...(fixture.stopMachine && {
      stopMachine: bounded('stopMachine', async (machine: ClusterMachine, signal) =>
        fixture.stopMachine?.(machine, signal),
      ),
    }),
    ...(fixture.startMachine && {
      startMachine: bounded('startMachine', async (machine: ClusterMachine, signal) =>
        fixture.startMachine?.(machine, signal),
      ),
    }),
    ...(fixture.failCloud && {
      failCloud: async (signal) => {
        const failing = await within('failCloud', signal, async (either) => fixture.failCloud?.(either));
        return {
          [Symbol.asyncDispose]: () =>
            within('the end of failCloud', undefined, async () => failing?.[Symbol.asyncDispose]()),
        };
      },
    }),
    ...(fixture.loadBalancers && {
      loadBalancers: bounded(
        'loadBalancers',
        async (service: ServiceIdentity, signal) => (await fixture.loadBalancers?.(service, signal)) ?? [],
      ),
    }),
    ...(fixture.backEnds && {
      backEnds: bounded(
        'backEnds',
        async (service: ServiceIdentity, signal) => (await fixture.backEnds?.(service, signal)) ?? [],
      ),
    }),
    ...(fixture.routes && {
      routes: bounded(
        'routes',
        async (machine: ClusterMachine, signal) => (await fixture.routes?.(machine, signal)) ?? [],
      ),
    }),
  };
}
