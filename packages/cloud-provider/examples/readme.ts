import { CloudError, type Capabilities, type CloudProvider, type ProviderHost } from '@outrigger/cloud-provider';

export default (): CloudProvider => ({
  name: 'example',
  async open({ clock, config }: ProviderHost): Promise<Capabilities> {
    if (!config) throw new CloudError('configuration', '--cloud-config is needed');
    return {
      instances: {
        batchSize: 100,
        async lookUp(nodes, _need, call) {
          const asOf = clock.monotonic();
          const ids = await call.call({ name: 'GET /servers', idempotent: true }, async () => new Set(['a']));
          return nodes.map(({ name }) => ({
            asOf,
            result: ids.has(name)
              ? { kind: 'found', instance: { providerID: `example://${name}`, state: 'running' } }
              : { kind: 'missing' },
          }));
        },
        async read() {
          return { asOf: clock.monotonic(), result: { kind: 'missing' } };
        },
      },
    };
  },
  async close(): Promise<void> {},
});
