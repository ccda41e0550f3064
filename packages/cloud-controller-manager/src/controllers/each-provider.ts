/** One controller of the table, once for each provider. */
import type { RunningController } from '@outrigger/controller-manager';
import type { Standing } from '@outrigger/controllers';
import type { Metrics } from '@outrigger/kube';
import type { CloudController, LeaderContext } from './cloud-controller.ts';
import { providerMetrics } from './provider-metrics.ts';

/** What is one provider's among several. */
export type ProviderMember = Pick<LeaderContext, 'isDefault' | 'loadBalancerLocks' | 'provider'>;

/**
 * With one provider, what the table says. With several, each is given its own names (`cloud-node-controller@north`) in the log, in the
 * journal, in explanations and in metrics, so that nothing of one is taken for another's.
 */
export function buildForEach(
  { build, name, scope }: CloudController,
  given: Omit<LeaderContext, keyof ProviderMember | 'providers'>,
  members: readonly ProviderMember[],
): readonly RunningController[] {
  const context = { ...given, providers: members.map(({ provider }) => provider) };
  if (members.length === 1) return members.map((member) => ({ name, ...build({ ...context, ...member }) }));
  const { explanations, journal, logger } = context;
  // A metric has the same labels wherever it is counted.
  const metrics = (provider: string): Metrics => providerMetrics(context.metrics, provider);
  if (scope === 'cluster') {
    return members
      .filter(({ isDefault }) => isDefault)
      .map((member) => ({ name, ...build({ ...context, ...member, metrics: metrics('') }) }));
  }
  return members.map((member) => {
    const { provider } = member;
    const named = (controller: string): string => `${controller}@${provider.name}`;
    return {
      name: named(name),
      ...build({
        ...context,
        ...member,
        logger: logger.with({ provider: provider.name }),
        metrics: metrics(provider.name),
        journal: { dryRun: journal.dryRun, of: (controller) => journal.of(named(controller)) },
        explanations: {
          follow: (controller, options) => {
            const explain: typeof controller.explain = (key) => {
              const finding = controller.explain(key);
              return finding && { ...finding, controller: named(finding.controller) };
            };
            const list = (kind: string): Iterable<Standing> =>
              Iterator.from(controller.list?.(kind) ?? []).map((one) => ({
                ...one,
                controller: named(one.controller),
              }));
            return explanations.follow({ run: (signal) => controller.run(signal), explain, list }, options);
          },
        },
      }),
    };
  });
}
