/** The cloud-controller-manager. See ../README.md. */
export {
  newCloudControllerManager,
  type CloudControllerManager,
  type CloudControllerManagerOptions,
} from './program/cloud-controller-manager.ts';
export type { CloudController, LeaderContext } from './controllers/cloud-controller.ts';
export { defaultControllers } from './controllers/controllers.ts';
export { main } from './program/main.ts';
export { deployFiles } from './deploy/deploy-files.ts';
export { loadBalancerFeaturesPage, type DeclaredLoadBalancers } from './pages/load-balancer-features-page.ts';
export { flagsPage } from './pages/flags-page.ts';
export type { Environment } from './program/environment.ts';
export type { ProgramEnvironment, TextOutput } from './program/program-environment.ts';
