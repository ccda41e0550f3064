/** The provider: what the cloud can do for a cluster. `--cloud-provider=./cloud-controller-manager/src/provider.ts` loads it into any Outrigger. */
import type { CloudProvider } from '@outrigger/cloud-provider';
import type { HttpClient } from '@outrigger/provider-kit';
import { connect, PROVIDER_NAME, readSettings } from './api.ts';
import { instancesOf } from './instances.ts';
// <load-balancers>
import { loadBalancersOf } from './load-balancers.ts';
// </load-balancers>
// <routes>
import { routesOf } from './routes.ts';
// </routes>
// <volumes>
import { volumesOf } from './volumes.ts';
// </volumes>

export default (): CloudProvider => {
  let api: HttpClient | undefined;
  return {
    name: PROVIDER_NAME,
    // Before anything is connected to: a wrong file is told at once.
    checkConfig: async (config) => void readSettings(config),
    async open(host) {
      api = connect(host);
      // A capability that is not named here does not start its controller.
      return {
        instances: instancesOf(api),
        // <load-balancers>
        loadBalancers: loadBalancersOf(host, api),
        // </load-balancers>
        // <routes>
        routes: routesOf(host, api),
        // </routes>
        // <volumes>
        volumes: volumesOf(api),
        // </volumes>
      };
    },
    close: async () => api?.[Symbol.asyncDispose](),
  };
};
