/** The cloud-controller-manager. See ../README.md. */
export {
  newCloudControllerManager,
  type CloudControllerManager,
  type CloudControllerManagerOptions,
  type ProgramEnvironment,
} from './program/cloud-controller-manager.ts';
export { defaultControllers, type CloudController, type LeaderContext } from './controllers/controllers.ts';
export { main } from './program/main.ts';
export { deployFiles } from './deploy/deploy-files.ts';
export { loadBalancerFeaturesPage, type DeclaredLoadBalancers } from './pages/load-balancer-features-page.ts';
export { flagsPage } from './pages/flags-page.ts';
export type { Environment, TextOutput } from './program/environment.ts';
