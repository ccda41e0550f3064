/** The cloud-controller-manager. See ../README.md. */
export {
  newCloudControllerManager,
  type CloudControllerManager,
  type CloudControllerManagerOptions,
  type ProgramEnvironment,
} from './cloud-controller-manager.ts';
export { defaultControllers, type CloudController, type LeaderContext } from './controllers.ts';
export { main } from './main.ts';
export { deployFiles } from './deploy/deploy-files.ts';
export { loadBalancerFeaturesPage, type DeclaredLoadBalancers } from './load-balancer-features-page.ts';
export { flagsPage } from './flags-page.ts';
export type { Environment, TextOutput } from './environment.ts';
