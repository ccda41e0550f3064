/** `docs/reference/load-balancer-features.md`, written by `scripts/load-balancer-pages.ts`. */
import type { LoadBalancers, ServiceAnnotation } from '@outrigger/cloud-provider';
import { featureTableOf } from '@outrigger/controllers';

/** A provider, and what it declares. */
export interface DeclaredLoadBalancers {
  readonly name: string;
  readonly loadBalancers: Pick<LoadBalancers, 'annotations' | 'classes' | 'features'>;
}

const HEAD = `# What Services of type LoadBalancer may ask for

Generated from what the providers declare by \`npx node scripts/load-balancer-pages.ts\`; do not edit.

A Service that asks for what its provider does not serve is refused with one Event that names it, and never served in part. The
same can be refused when the Service is written: \`deploy/admission-policy.yml\` is a ValidatingAdmissionPolicy for the providers
below, made by \`outrigger admission-policy --cloud-provider=<name>\`, which also takes a provider of your own. What only the cloud knows
at that moment is asked by [a webhook](../guides/service-webhook.md).

Network load balancing only: HTTP routing, TLS termination and host names are not a Service's to ask for, and no annotation for
them is invented here. They are the work of controllers of Ingress and of the Gateway API, which have the objects to say it with
(listeners, routes, certificates, and whose each is); a second way to say it, in annotations of a Service, would be another
language in each cloud, which nothing validates. Such a controller asks for the address that it listens on with a Service, and
that is served here. Where a provider below reads such annotations all the same, they are those of a predecessor, whose Services
it takes over as they are.
`;

export function loadBalancerFeaturesPage(providers: readonly DeclaredLoadBalancers[]): string {
  return [HEAD, ...providers.map(sectionOf)].join('\n');
}

function sectionOf({ name, loadBalancers: { annotations, classes, features } }: DeclaredLoadBalancers): string {
  const list = classes.map((one) => `\`${one}\``).join(', ');
  return `## ${name}

Serves the Services without a \`loadBalancerClass\` where it is the default provider${list && `, and those of class ${list}`}.

${featureTableOf(features)}
${annotations.length === 0 ? 'It reads no annotation of its own.\n' : annotationTable(annotations)}`;
}

function annotationTable(annotations: readonly ServiceAnnotation[]): string {
  const rows = annotations.map(({ description, name, values }) => {
    const words = typeof values === 'string' ? values : values.map((one) => `\`${one}\``).join(', ');
    return `| \`${name}\` | ${words} | ${description} |`;
  });
  return ['| Annotation | Values | What it does |', '|---|---|---|', ...rows, ''].join('\n');
}
