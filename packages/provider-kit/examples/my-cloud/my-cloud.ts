/** The provider: what `--cloud-provider=./my-cloud.ts` loads. */
import type { CloudProvider } from '@outrigger/cloud-provider';
import type { HttpClient } from '@outrigger/provider-kit';
import { checkConfig, connect, NAME } from './cloud-api.ts';
import { loadBalancersOf } from './load-balancers.ts';
import { instancesOf, placeOf } from './nodes.ts';
import { routesOf } from './routes.ts';

export default (): CloudProvider => {
  let api: HttpClient | undefined;
  return {
    name: NAME,
    checkConfig: async (config) => checkConfig(config),
    async open(host) {
      api = connect(host);
      const place = placeOf(api);
      return {
        instances: instancesOf(api, place),
        loadBalancers: loadBalancersOf(host, api, place),
        routes: routesOf(host, api),
      };
    },
    close: async () => api?.[Symbol.asyncDispose](),
  };
};
