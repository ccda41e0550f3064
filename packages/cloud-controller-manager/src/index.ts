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

// Commands for people, of packages above this one
export { defaultCommands } from './commands/commands.ts';
export { defineCommand, type Command, type CommandDefinition } from './commands/command.ts';
export {
  askManager,
  askPage,
  explanationPath,
  messageOf,
  PageError,
  readPage,
  type AskedPage,
  type AskOptions,
} from './explain/ask-manager.ts';
export { loadBalancerReasons } from './commands/event-reasons.ts';
export { explanationOf, listedKinds } from './explain/explanation.ts';
export type { Explanation, ExplanationList, ExplainedKind, ListedFact, ListedStanding } from './explain/explanation.ts';
export { hostOf, urlOf } from './explain/leader-host.ts';
export { isOfManager, leaderPod, noLeaderPod, selectorsOfLeader } from './explain/leader-pod.ts';
export { clusterOf, managerFlags, managerOf, type ManagerOptions } from './explain/manager-access.ts';
export { jsonText, oneLine } from './explain/one-line.ts';
export { renderExplanation } from './explain/render-explanation.ts';
