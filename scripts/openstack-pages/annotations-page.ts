/** `providers/openstack/docs/annotations.md`, from the table of annotations and the notes on them. */
import { annotationNotes } from './annotation-notes.ts';
import {
  annotationTable,
  type AnnotationKey,
  type AnnotationRow,
} from '../../providers/openstack/src/load-balancer/desired/annotation-table.ts';

const HEAD = `# Annotations of Services

Generated from \`providers/openstack/src/load-balancer/desired/annotation-table.ts\` and \`scripts/openstack-pages/annotation-notes.ts\` by \`npx node scripts/openstack-annotations-page.ts\`; do not edit.

These are the annotations of cloud-provider-openstack ("CPO"), with its names and its meaning. *Default* is what counts without the
annotation: a key of \`[LoadBalancer]\` in the cloud config, or a value. An empty value overrides what the config says. *Tested on*:
[the lab, the lab with seeded objects, or the fake](lab.md#marks); if it is empty, unit tests only. What is
created from them: [load balancers](load-balancers.md). The provider \`ovn\` was tested on the fake only, never on a real one.
`;

const TAIL = `
In addition, \`service.beta.kubernetes.io/load-balancer-source-ranges\` sets \`spec.loadBalancerSourceRanges\` if that is empty, as with
every provider.

## Precedence

The annotation, then the class, then \`[LoadBalancer]\`. For a Service that is not internal, the class takes precedence over the annotations
\`floating-network-id\`, \`floating-subnet*\`, \`network-id\` and \`subnet-id\`, as with CPO.

## What differs from CPO

* A value that is none (\`connection-limit: unlimited\`, \`proxy-protocol: "True"\`, \`timeout-client-data: 60s\`) is ignored and the default
  used, as CPO does, with an Event that names annotation and value. So is, of a Service that has its load balancer, what is neither true nor
  false for \`openstack-internal-load-balancer\`, and what is no ID for \`network-id\`, \`port-id\` and \`flavor-id\`, which only a new one needs:
  with a floating IP or without, it stays so. That a new one is made, or another's joined, is refused: CPO gives one of \`internal: "True"\` a floating IP. Refused are numbers out of range, and IDs and words that Octavia would
  refuse.
* IDs are UUIDs. CPO sends any text to OpenStack.
* \`proxy-protocol\`, \`x-forwarded-for\` and \`default-tls-container-ref\` on a Service with UDP or SCTP ports are refused. CPO asks for what
  Octavia refuses, or makes an HTTP listener of a UDP port.
* Source ranges that nothing would enforce (Octavia before 2.12, the provider \`ovn\` without \`manage-security-groups\`) are refused. CPO
  serves the Service to everybody, with an Event. Ranges of a family that the load balancer has no address of are left out; if
  none is left, the Service is refused.
* Two IP families are one load balancer with two addresses (Octavia 2.26), when it is made. Not together with source ranges, which Octavia
  accepts and then ends in ERROR over. Where two cannot be had the Service gets its first family and a warning, with \`RequireDualStack\` too.
  CPO serves the first family always.
* \`port-id\`, \`network-id\`, \`subnet-id\` and \`member-subnet-id\` name what the cloud config names too, or what has
  the tag \`outrigger-namespace=<namespace>\`; where the VIP and the members lie already, they stay. \`load-balancer-id\` names one of the namespace, or one with that tag. All of the project with
  [\`allow-all-named-resources\`](cloud-conf.md). CPO takes any. See [multi-tenant clusters](../../../docs/guides/multi-tenant.md).
* Whether the certificate of \`default-tls-container-ref\` is there, Octavia says when it is asked for the listener.
`;

export function annotationsPage(): string {
  const rows = Object.entries(annotationTable) as readonly (readonly [AnnotationKey, AnnotationRow])[];
  const lines = rows.map(([key, row]) => {
    const { note, shownBy = '' } = annotationNotes[key] ?? {};
    return `| ${[`\`${row.name}\``, wordsFor(row), row.description, answerOf(row, note), shownBy].join(' | ')} |`;
  });
  return [
    HEAD,
    '| Annotation | Values | What it asks for | Here | Tested on |',
    '|---|---|---|---|---|',
    ...lines,
    TAIL,
  ].join('\n');
}

function answerOf({ dangerous, written }: AnnotationRow, note: string | undefined): string {
  const word = written ? 'written by the provider; any other value is ignored' : 'served';
  const words = note === undefined ? word : `${word}. ${note}`;
  return dangerous === undefined
    ? words
    : `${words}${words.endsWith('.') ? '' : '.'} Dangerous: who may write it ${dangerous}, where nothing holds it back.`;
}

function wordsFor({ range, values }: AnnotationRow): string {
  if (range) return range.map((bound) => bound.toLocaleString('en')).join(' to ');
  if (values === 'boolean') return '`true`, `false`';
  if (values === 'uuid') return 'an ID';
  return typeof values === 'string' ? 'text' : values.map((one) => `\`${one}\``).join(', ');
}
