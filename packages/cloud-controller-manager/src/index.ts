/** The cloud-controller-manager. See ../README.md. */
export {
  newCloudControllerManager,
  type CloudControllerManager,
  type CloudControllerManagerOptions,
  type ProgramEnvironment,
} from './cloud-controller-manager.ts';
export { defaultControllers, type CloudController, type LeaderContext } from './controllers.ts';
export { main } from './main.ts';
export { deployManifest, type DeploymentKind } from './deploy/manifest.ts';
export { pvLabelWebhookManifest } from './deploy/pv-label-webhook.ts';
export { loadBalancerFeaturesPage, type DeclaredLoadBalancers } from './load-balancer-features-page.ts';
export { flagsPage } from './flags-page.ts';
export type { Environment, TextOutput } from './environment.ts';
