/** The pages of Events and of what is read and written on objects, as Markdown. */
import { eventReasons } from './event-reasons.ts';
import { objectFields } from './object-fields.ts';

const GENERATED = '<!-- Made by scripts/object-pages.ts: do not edit. -->';

export function eventsPage(): string {
  const groups = Object.entries(eventReasons).map(([title, reasons]) => {
    const rows = reasons.map(
      ({ means, on, reason, remedy = '', type }) => `| \`${reason}\`<br>${type}, ${on} | ${means} | ${remedy} |`,
    );
    return `## ${title}\n\n| Reason, type, object | Meaning | What to do |\n|---|---|---|\n${rows.join('\n')}\n`;
  });
  return `# Events

${GENERATED}

Every reason of an Event that the program records. Reasons that upstream's controllers have too mean the same. To see them:

\`\`\`console
$ kubectl get events --all-namespaces --field-selector=type=Warning
\`\`\`

Those about the cluster as a whole are recorded on the Namespace \`kube-system\`, in the namespace \`default\`. The same Event is repeated at most
as often as upstream's recorder repeats it; [\`outrigger explain\`](../guides/explain.md) says what holds now.

The source of an Event is the name of the controller, as in \`--controllers\`, in logs and in metrics. One differs: Events of \`service-lb-controller\` come from
\`service-controller\`, because both names are upstream's: its service controller has the first in flags, logs and metrics, and the second in Events.

\`\`\`console
$ kubectl get events --all-namespaces --field-selector=source=service-controller
\`\`\`

${groups.join('\n')}`;
}

export function objectsPage(): string {
  const groups = Object.entries(objectFields).map(([title, fields]) => {
    const rows = fields.map(
      ({ by, means, name, on, value }) => `| \`${name}\`<br>${on} | ${by} | ${value} | ${means} |`,
    );
    return `## ${title}\n\n| Name, object | Written by | Value | Meaning |\n|---|---|---|---|\n${rows.join('\n')}\n`;
  });
  return `# Annotations, labels, taints, finalizers and conditions

${GENERATED}

What the program reads and writes on objects beside fields of their specification and status. What another program has written there stays.
Annotations of a cloud are on the pages of its provider: [OpenStack](../../providers/openstack/docs/annotations.md).

${groups.join('\n')}`;
}
