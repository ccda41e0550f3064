/** Wrong about the life of a provider, and about its requests. */
import { CloudError, isCloudError, type CallContext, type Instances } from '@outrigger/cloud-provider';
import { ofInstances, withMembers, type Mutant } from './mutant.suite.ts';

const ofProvider = (name: string, killedBy: string, more: Pick<Mutant, 'provider'> & Partial<Mutant>): Mutant => ({
  name,
  killedBy: `provider / ${killedBy}`,
  change: () => ({}),
  ...more,
});

const renamed = (mutant: Mutant, killedBy: string): Mutant => ({ ...mutant, killedBy: `provider / ${killedBy}` });

/** A call context whose requests are changed on their way. */
function through(call: CallContext, change: CallContext['call']): CallContext {
  return { signal: call.signal, priority: call.priority, logger: call.logger, call: change };
}

export const lifecycleMutants: readonly Mutant[] = [
  ofProvider('it asks the cloud before it opens', 'a cloud that is down does not keep it from opening', {
    provider: (own) => ({
      open: async (host) => {
        const capabilities = await own.open(host);
        await capabilities.routes?.list(host.callContext());
        return capabilities;
      },
    }),
  }),
  ofProvider('it goes on asking after close', 'after close it sends nothing, and leaves no timer and no connection', {
    change: ({ instances }, { host }) => {
      void (async () => {
        for (let i = 0; i < 1_000; i++) await host.clock.sleep(60_000);
      })();
      return { instances };
    },
  }),
  ofProvider('a timer is left behind by close', 'after close it sends nothing, and leaves no timer and no connection', {
    change: ({ instances }) => {
      setTimeout(() => {}, 15_000);
      return { instances };
    },
  }),
  ofProvider('two of it share what they know', 'two of it in one process do not meddle with each other', {
    provider: (own) => ({
      close: async () => {
        shared.isClosed = true;
        await own.close();
      },
      open: async (host) => {
        shared.isClosed = false;
        const capabilities = await own.open(host);
        const { instances } = capabilities;
        if (!instances) return capabilities;
        const lookUp: Instances['lookUp'] = (nodes, need, call) => {
          if (shared.isClosed) throw new CloudError('unavailable', 'closed');
          return instances.lookUp(nodes, need, call);
        };
        return { ...capabilities, instances: withMembers(instances, { lookUp }) };
      },
    }),
  }),
  renamed(
    ofInstances('requests go past the host', '', (own) => ({
      read: (node, need, call) =>
        own.read(
          node,
          need,
          through(call, (_, send) => send(call.signal)),
        ),
    })),
    'each request goes through call.call',
  ),
  renamed(
    ofInstances('IDs are in the names of operations', '', (own) => ({
      read: (node, need, call) =>
        own.read(
          node,
          need,
          through(call, (operation, send) => call.call({ ...operation, name: `GET ${node.name}` }, send)),
        ),
    })),
    'the names of operations hold no IDs: they are labels of metrics',
  ),
  renamed(
    ofInstances('it sends again by itself', '', (own) => ({
      read: (node, need, call) => own.read(node, need, call).catch(() => own.read(node, need, call)),
    })),
    'it retries nothing by itself: that is for the host',
  ),
  renamed(
    ofInstances('it waits by itself', '', (own, { host }) => ({
      read: (node, need, call) =>
        own.read(node, need, call).catch(async (error: unknown) => {
          await host.clock.sleep(3_000, call.signal);
          throw error;
        }),
    })),
    'it retries nothing by itself: that is for the host',
  ),
  renamed(
    ofInstances('Retry-After is not read', '', (own) => ({
      read: (node, need, call) =>
        own.read(
          node,
          need,
          through(call, (operation, send) =>
            call.call(operation, (signal) =>
              send(signal).catch((error: unknown) => {
                throw isCloudError(error, 'throttled') ? new CloudError('throttled', 'slowly') : error;
              }),
            ),
          ),
        ),
    })),
    'a 429 and its Retry-After reach the host, which waits for it',
  ),
  renamed(
    ofInstances('a 429 is any failure', '', (own) => ({
      read: (node, need, call) =>
        own.read(
          node,
          need,
          through(call, (operation, send) =>
            call.call(operation, (signal) =>
              send(signal).catch((error: unknown) => {
                throw isCloudError(error, 'throttled') ? new CloudError('invalid', 'no') : error;
              }),
            ),
          ),
        ),
    })),
    'a 429 and its Retry-After reach the host, which waits for it',
  ),
  {
    ...renamed(
      ofInstances('requests do not get the signal', '', (own) => ({
        read: (node, need, call) =>
          own.read(
            node,
            need,
            through(call, (operation, send) => call.call(operation, () => send(new AbortController().signal))),
          ),
      })),
      'a request on the wire is cut off by its signal',
    ),
    over: 'http',
  },
  ofProvider('any config is well', 'a config that cannot be read is told by checkConfig, and asks no cloud', {
    provider: () => ({ checkConfig: async () => {} }),
  }),
  ofProvider('a broken config is taken', 'a changed config that cannot be read leaves the old one in use', {
    provider: () => ({ reconfigure: async () => {} }),
  }),
];

const shared = { isClosed: false };
