/** The page of keys of `cloud.conf`, made of the table that the file is read by. */
import {
  globalSection,
  loadBalancerClassSection,
  loadBalancerSection,
  metadataSection,
  networkingSection,
  routeSection,
  type Section,
  type ServedKey,
} from './cloud-conf-keys.ts';
import { cloudConfMeanings } from './cloud-conf-meanings.ts';

const INTRODUCTION = `# cloud.conf

Generated from \`src/config/cloud-conf-keys.ts\` and \`cloud-conf-meanings.ts\` by \`node scripts/openstack-cloud-conf-page.ts\`; do not edit.

\`--cloud-config\` names the file of cloud-provider-openstack, and it is read as that reads it: the dialect of
[gcfg](https://pkg.go.dev/gopkg.in/gcfg.v1). Sections and keys are the same in any case. A value may stand in quotes, in which
\`\\"\`, \`\\\\\`, \`\\n\` and \`\\t\` are escapes; outside of them \`#\` and \`;\` begin a comment, and \`\\\` at the end of a line joins the next to
it. Of a key that is set twice the last counts, but for those that are repeatable, where each line adds one and the key without
\`=\` begins anew. Durations are Go's: \`5s\`, \`1m30s\`.

A section or a key that is not here is read over, with a warning that names the file and the line. A value that cannot be
used ends the start with one line that does; at a reload it leaves the config before in use.

*served*: as upstream. *own*: upstream has no such key, and reads over it. *refused*: the config is not taken. What is shown by
what: [marks](lab.md#marks).
`;

const AFTER = `## How it authenticates

With the first of these that is set: a trust (\`trust-id\`, as the trustee, else as the user), \`token\`, an application credential
(\`application-credential-secret\`), \`password\`. The scope is the project, else the default project of the user; an application credential and a trust
have their own. A token without a project is refused: nova, neutron and octavia show it nothing. An ID goes before a name. A name needs a domain: its own (\`user-domain-…\`, \`tenant-domain-…\`), else
\`domain-id\` or \`domain-name\`.

Keystone is first asked soon after the start, by a standby too; nothing waits for it. A keystone that is down, one that is not there,
credentials that it refuses and a region without nova are one line in the log each. A token is renewed when a
tenth of its life is left, 5 minutes at most, and once when a service refuses it. After keystone has refused the credentials it
is not asked again for 30 seconds: it locks accounts that are tried too often.

The file itself, clouds.yaml with what goes with it, and the files of certificates are looked at every 10 seconds.
At a reload the changed config is tried first. One whose credentials keystone refuses, or that leads to another project or region than
before, leaves the one before in use: there, all of the cluster would seem to be gone. While keystone is down it is taken, and then
asks nothing of another project. Restart the program when the cluster has moved. A first config that leads to the wrong
project can be corrected without that, as long as no server of the cluster was seen there.

## clouds.yaml

With \`use-clouds\`, what \`cloud.conf\` does not set is taken from there: \`auth\`, \`region_name\`, \`endpoint_type\` or \`interface\`, \`cacert\`,
\`cert\`, \`key\`. Not \`verify\`: set \`tls-insecure\`. It is looked for at \`clouds-file\`, at \`OS_CLIENT_CONFIG_FILE\`, in the working
directory, in \`~/.config/openstack\` and in \`/etc/openstack\`; \`clouds-public.yaml\` (for a \`profile\`) and \`secure.yaml\` likewise. The cloud is
\`cloud\`, else \`OS_CLOUD\`, else the only one. It is read with \`cloud.conf\`, not when it changes by itself.

## Environment

| Variable | Meaning |
|---|---|
| \`OS_CCM_REGIONAL\` | \`true\`: provider IDs are \`openstack://<region>/<id>\`, else \`openstack:///<id>\`; both are understood always |
| \`OS_CLIENT_CONFIG_FILE\`, \`OS_CLOUD\` | as above |
| \`HTTPS_PROXY\`, \`HTTP_PROXY\`, \`NO_PROXY\` | proxies for all requests to OpenStack; never for this machine itself. \`NO_PROXY\` takes names, their endings and addresses, no ranges |
`;

export function cloudConfPage(): string {
  return [
    INTRODUCTION,
    table(globalSection),
    table(networkingSection),
    table(loadBalancerSection),
    table(loadBalancerClassSection, '[LoadBalancerClass "name"]'),
    table(routeSection),
    table(metadataSection),
    AFTER,
  ].join('\n');
}

function table<S>({ name, keys, unserved }: Section<S>, title = `[${name}]`): string {
  const served = Object.values(keys) as readonly ServedKey<unknown>[];
  const rows = [
    ...served.map(({ key, kind, byDefault, own, secret }) => {
      const shown = kind.show(byDefault);
      const type = secret ? 'secret' : kind.name;
      return [
        code(key),
        type,
        shown === '' ? '' : code(shown),
        own ? 'own' : 'served',
        cloudConfMeanings[name]?.[key] ?? '',
      ];
    }),
    ...unserved.map(({ key, status, harmless, why }) => {
      const but = harmless.filter((value) => value !== '').map(code);
      return [code(key), 'text', '', but.length === 0 ? status : `${status}, but for ${but.join(', ')}`, why];
    }),
  ];
  const lines = [['Key', 'Type', 'Default', 'Status', 'Meaning'], ['---', '---', '---', '---', '---'], ...rows];
  return `## ${title}\n\n${lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n')}\n`;
}

function code(value: string): string {
  return `\`${value}\``;
}
