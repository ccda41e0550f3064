/** Changes of machines as vCenter tells them (`WaitForUpdatesEx`): hints, one request of which is under way at any time. */
import { asError, isCloudError, type CallContext, type ProviderHost } from '@outrigger/cloud-provider';
import { xmlChild, xmlChildren, xmlText } from '@outrigger/provider-kit';
import { isFault, managedObjectIn } from '../client/soap.ts';
import type { VimClient, VimSession } from '../client/vim-client.ts';
import { MACHINE } from './machine-properties.ts';
import type { InventoryChange, ManagedObject } from './vcenter.ts';
import { filterSpec, viewOf } from './views.ts';

/** What a node is concluded from, but for what guests say every few seconds. */
const PATHS = [
  'name',
  'config.uuid',
  'runtime.connectionState',
  'runtime.powerState',
  'runtime.host',
  'guest.hostName',
  'guest.ipAddress',
];
/** Within the life of an idle session, which is 30 min. */
const LONGEST_WAIT_S = 15 * 60;
/** What lies between here and vCenter may give up on a connection that says nothing: then less, down to this. */
const SHORTEST_WAIT_S = 45;
/** The answer to a wait comes at its end. */
const ANSWER_WITHIN_MS = 30_000;
/** In a large vCenter some machine changes all the time, and a guest can change its host name as often as it likes. */
const PAUSE_MS = 1_000;
const COLLECTOR = 'property collector';

/** Ends with the call. A session that ends is replaced; after that it is said that something has changed, as nobody looked for a while. */
export async function* followMachines(
  vim: VimClient,
  call: CallContext,
  host: Pick<ProviderHost, 'callContext' | 'clock'>,
  onFollowing?: () => void,
): AsyncGenerator<InventoryChange, void> {
  let ended: VimSession | undefined;
  for (let failures = 0, begun = 0; ; begun++) {
    let session: VimSession | undefined;
    try {
      session = await vim.session(call, ended);
      ended = undefined;
      for await (const changes of follow(session, call, host)) {
        failures = 0;
        if (changes) yield* changes;
        else onFollowing?.();
        if (!changes && begun > 0) yield { kind: 'modify' };
      }
    } catch (error) {
      if (call.signal.aborted) return;
      // Twice in a row without any answer: whoever follows waits before the next time.
      if (!session || failures++ > 0) throw error;
      if (session.isEndedBy(error)) ended = session;
      else if (!isFault(error, 'InvalidCollectorVersion')) throw error;
    }
  }
}

/** `undefined` once no change is missed any more, then the changes of each answer. */
async function* follow(
  session: VimSession,
  call: CallContext,
  host: Pick<ProviderHost, 'callContext' | 'clock'>,
): AsyncGenerator<readonly InventoryChange[] | undefined, void> {
  const { propertyCollector, rootFolder } = session.content;
  const view = await viewOf(session, call, rootFolder);
  session.disown(COLLECTOR);
  // Its own: waits and filters of others have nothing to do with it.
  const collector = await session.own(COLLECTOR, () =>
    session.request(call, 'CreatePropertyCollector', propertyCollector),
  );
  try {
    await session.request(
      call,
      'CreateFilter',
      collector,
      { spec: filterSpec(view, { specs: [{ type: MACHINE, paths: PATHS }] }), partialUpdates: false },
      { idempotent: false },
    );
    let version = '';
    // At first come all machines, as they are: no changes.
    for (let isTruncated = true; isTruncated;) {
      const set = xmlChild(await wait(session, call, collector, { version, seconds: 0 }), 'returnval');
      version = xmlText(xmlChild(set, 'version')) ?? version;
      isTruncated = xmlText(xmlChild(set, 'truncated')) === 'true';
    }
    yield undefined;
    for (let seconds = LONGEST_WAIT_S; ;) {
      const begunAt = host.clock.monotonic();
      let answer: unknown;
      try {
        answer = await wait(session, call, collector, { version, seconds });
      } catch (error) {
        const isCut = isCloudError(error, 'unavailable') || isCloudError(error, 'timeout');
        const waitedMs = host.clock.monotonic() - begunAt;
        if (!isCut || seconds === SHORTEST_WAIT_S || waitedMs < SHORTEST_WAIT_S * 1000) throw error;
        seconds = Math.max(SHORTEST_WAIT_S, Math.floor(seconds / 2));
        continue;
      }
      const set = xmlChild(answer, 'returnval');
      version = xmlText(xmlChild(set, 'version')) ?? version;
      yield changesIn(set);
      // What changes meanwhile comes with the next answer.
      const restMs = begunAt + PAUSE_MS - host.clock.monotonic();
      if (restMs > 0) await host.clock.sleep(restMs, call.signal);
    }
  } finally {
    session.disown(COLLECTOR);
    // The call may be over. Not waited for: with the session it ends in any case.
    session.request(host.callContext(), 'DestroyPropertyCollector', collector).catch(asError);
  }
}

function wait(
  session: VimSession,
  call: CallContext,
  collector: ManagedObject,
  { seconds, version }: { readonly seconds: number; readonly version: string },
): Promise<unknown> {
  return session.request(
    call,
    'WaitForUpdatesEx',
    collector,
    { version, options: { maxWaitSeconds: seconds } },
    { idempotent: false, timeoutMs: seconds * 1000 + ANSWER_WITHIN_MS },
  );
}

function changesIn(set: unknown): readonly InventoryChange[] {
  return xmlChildren(set, 'filterSet').flatMap((filter) =>
    xmlChildren(filter, 'objectSet').map((object): InventoryChange => {
      const kind = xmlText(xmlChild(object, 'kind'));
      return {
        reference: managedObjectIn(xmlChild(object, 'obj'))?.reference,
        kind: kind === 'enter' || kind === 'leave' ? kind : 'modify',
      };
    }),
  );
}
