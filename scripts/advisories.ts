/**
 * `make advisories`: asks the npm registry for known vulnerabilities of the dependencies, by each lock file of the repository. Fails for one that
 * `docs/advisories.json` does not accept: any of what is shipped, a high or critical one of tools. Where the registry does not answer, nothing is
 * known: that is said, and fails in CI unless the entry `unknown` accepts it.
 *
 *     node scripts/advisories.ts [--list=docs/advisories.json]
 */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { askRegistry, type FoundAdvisory } from './advisories/ask-registry.ts';
import { acceptsUnknown, readAcceptances } from './advisories/judge-audit.ts';

const repository = fileURLToPath(new URL('../', import.meta.url));

const { values } = parseArgs({ options: { list: { type: 'string', default: 'docs/advisories.json' } } });
const { list } = values;
const acceptances = readAcceptances(readFileSync(resolve(repository, list), 'utf8'));
const today = new Date().toISOString().slice(0, 10);
const { accepted, idle, others, refused, unknown } = await askRegistry(acceptances, today);
for (const one of unknown) {
  console.warn(`advisories: UNKNOWN. The registry did not say whether there are any: ${one}`);
}
for (const one of others) console.warn(`advisories: ${line(one)}, in a tool`);
for (const one of accepted) console.warn(`advisories: accepted by ${list}: ${line(one)}`);
for (const one of refused) {
  console.error(`advisories: ${line(one)}: take a version without it, or say in ${list} why it does no harm here`);
}
if (refused.length > 0) process.exitCode = 1;
if (unknown.length === 0) {
  for (const { id } of idle) console.warn(`advisories: ${id} in ${list} is reported no more: remove it`);
  console.log(
    `advisories: ${refused.length} refused, ${accepted.length} accepted, ${others.length} lesser ones of tools`,
  );
} else if (process.env['CI'] === 'true' && !acceptsUnknown(acceptances, today)) {
  console.error(
    `advisories: ask a registry that knows, or say in ${list} ("id": "unknown") why it need not be known here`,
  );
  process.exitCode = 1;
}

function line({ id, lock, package: name, severity, title }: FoundAdvisory): string {
  return `${lock}: ${severity}: ${name}: ${title} (${id})`;
}
