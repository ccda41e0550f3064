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
} from '../../providers/openstack/src/config/cloud-conf-keys.ts';
import { cloudConfMeanings } from './cloud-conf-meanings.ts';

const INTRODUCTION = `# cloud.conf

Generated from \`providers/openstack/src/config/cloud-conf-keys.ts\` and \`scripts/openstack-pages/cloud-conf-meanings.ts\` by \`npx node scripts/openstack-cloud-conf-page.ts\`; do not edit.

\`--cloud-config\` takes the file of cloud-provider-openstack, and reads it by the same rules: the INI dialect of
[gcfg](https://pkg.go.dev/gopkg.in/gcfg.v1). Names of sections and keys are not case-sensitive. A value may be quoted; inside quotes
\`\\"\`, \`\\\\\`, \`\\n\` and \`\\t\` are escapes; outside of quotes \`#\` and \`;\` begin a comment, and \`\\\` at the end of a line continues it on
the next. If a key is set more than once, the last value counts; a key that is repeatable collects them, and the key without
\`=\` clears what was collected. Durations are written as in Go: \`5s\`, \`1m30s\`.

An unknown section or key is ignored with a warning that names the file, the line and the key that may be meant. An invalid value stops
the program at the start, with one line that names the file, the line and the key; at a reload, the previous config stays in use.

*served*: as upstream. *own*: a key that upstream does not have, and ignores. *refused*: the config is not accepted. How each was
tested: [marks](lab.md#marks).
`;

const AFTER = `## How it authenticates

With the first of these that is set: a trust (\`trust-id\`, as the trustee, else as the user), \`token\`, an application credential
(\`application-credential-secret\`), \`password\`. The scope is the project, else the user's default project; an application credential and a trust
have their own. The scope is never a domain, and a token without a project is refused: nova, Neutron and Octavia show it nothing. Set \`tenant-id\`, or
\`tenant-name\` with its domain. An ID takes precedence over a name. A name needs a domain: its own (\`user-domain-…\`, \`tenant-domain-…\`), else
\`domain-id\` or \`domain-name\`.

Keystone is first asked soon after the start, by a standby as well; nothing waits for it. A keystone that cannot be reached,
credentials that it refuses and a region without nova are logged in one line each. A token is renewed when a
tenth of its lifetime is left, 5 minutes at most, and once when a service refuses it. After keystone has refused the credentials it
is not asked again for 30 seconds: keystone can lock accounts after repeated failures.

The file itself, clouds.yaml and the files beside it, and the certificate files are checked for changes every 10 seconds.
A changed config is verified before it is used. If keystone refuses its credentials, or if it leads to another project or region than
before, the previous config stays in use: in another project, the whole cluster would seem to be gone. While keystone is down, the changed config is accepted; it then
sends no request to another project. Restart the program when the cluster has moved. A first config that leads to the wrong
project can be corrected without a restart, as long as no server of the cluster was seen there.

## clouds.yaml

With \`use-clouds\`, what \`cloud.conf\` does not set is taken from there: \`auth\`, \`region_name\`, \`endpoint_type\` or \`interface\`, \`cacert\`,
\`cert\`, \`key\`. Not \`verify\`: set \`tls-insecure\`. It is looked for at \`clouds-file\`, at \`OS_CLIENT_CONFIG_FILE\`, in the working
directory, in \`~/.config/openstack\` and in \`/etc/openstack\`; \`clouds-public.yaml\` (for a \`profile\`) and \`secure.yaml\` likewise. The cloud is
\`cloud\`, else \`OS_CLOUD\`, else the only one. It is read again with \`cloud.conf\`.

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
