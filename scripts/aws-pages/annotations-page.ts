/** `providers/aws/docs/annotations.md`, from the table of annotations and the notes on them. */
import { annotationNotes } from './annotation-notes.ts';
import {
  annotationRows,
  type AnnotationKey,
} from '../../providers/aws/src/load-balancer/annotations/annotation-rows.ts';

const HEAD = `# Annotations of Services

Generated from \`providers/aws/src/load-balancer/annotations/annotation-rows.ts\` and \`scripts/aws-pages/annotation-notes.ts\` by \`npx node scripts/aws-annotations-page.ts\`; do not edit.

These are the annotations of cloud-provider-aws, with its names and its meaning; all of them are served since 0.1.0. *For*: the kind of load balancer, Network (NLB) or
Classic (CLB); for the other kind it is ignored, with an Event. *Since*: the release of cloud-provider-aws that has it first. *Differs*: where the answer is not the one of
cloud-provider-aws 1.37; if it is empty, it is. A value that is none of those named is refused with an Event that names annotation and value, unless the table says that it is ignored.
`;

const TAIL = `
In addition, \`service.beta.kubernetes.io/load-balancer-source-ranges\` sets \`spec.loadBalancerSourceRanges\` if that is empty, as with every provider.

## What Services may name

An annotation with *Dangerous* in its description names something of the account that may be another's. A security group, a subnet or an Elastic IP is given to a load
balancer only if it says so itself: by the tag \`outrigger.dev/namespaces\`, whose value lists namespaces with spaces between, or is \`*\` for all. A subnet needs no such tag if it
carries the cluster's, \`kubernetes.io/cluster/<id>\`; a security group always does, the cluster's own too, since any load balancer that joins it is let in where it is. A subnet without the cluster's tag that
is set aside for other namespaces is not chosen for a Service that names none. What a load balancer has already, it keeps without. Certificates, buckets and private addresses are not looked at. Additional tags are on the security group too, with the ports and source ranges of the Service: whatever gets
its security groups by their tags may get this one, and lets in whom the Service does. Tags of Kubernetes, EKS, eksctl, Cluster API, kOps and Karpenter are refused;
which other tags an administrator selects by is not known here. \`--trusted-service-namespaces\` and the generated admission policy hold back the
annotations themselves, by namespace: see [multi-tenant clusters](../../../docs/guides/multi-tenant.md).

## The AWS Load Balancer Controller

It has more annotations under the same prefix (\`scheme\`, \`ip-address-type\`, \`attributes\`, \`name\`, \`nlb-target-type\`, …). They are not read; a Service that has one gets an Event that
says so. Services with its class, with \`type: external\` or \`nlb-ip\`, or with its finalizer are [left to it](load-balancers.md#the-aws-load-balancer-controller).
`;

export function annotationsPage(): string {
  const rows = Object.entries(annotationRows).map(([key, { dangerous, form, meaning, name, range }]) => {
    const { differs = '', for: kind, since } = annotationNotes[key as AnnotationKey];
    const values = form?.name ?? (range ? `${range[0]} to ${range[1]}` : 'text');
    const danger = dangerous === undefined ? '' : ` *Dangerous*: who may write it ${dangerous}.`;
    return `| \`${name}\` | ${kind} | ${values} | ${meaning}${danger} | ${since} | ${differs} |`;
  });
  const table = [
    '| Annotation | For | Values | What it asks for | Since | Differs |',
    '|---|---|---|---|---|---|',
    ...rows,
  ];
  return [HEAD, ...table, TAIL].join('\n');
}
