/** The cloud-controller-manager. See ../README.md. */
export { main } from './main.ts';
export { deployManifest, type DeploymentKind } from './deploy/manifest.ts';
export { pvLabelWebhookManifest } from './deploy/pv-label-webhook.ts';
export { loadBalancerFeaturesPage, type DeclaredLoadBalancers } from './load-balancer-features-page.ts';
export { flagsPage } from './flags-page.ts';
export type { Environment, TextOutput } from './environment.ts';
