/**
 * `make advisories`: asks the npm registry for known vulnerabilities of the dependencies. Fails for one that `docs/advisories.json` does not
 * accept: any of what is shipped, a high or critical one of tools. Where the registry does not answer, nothing is known: that is said, and
 * fails in CI unless the entry `unknown` accepts it.
 *
 *     node scripts/advisories.ts [--list=docs/advisories.json]
 */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import {
  acceptsUnknown,
  judgeAdvisories,
  readAcceptances,
  readAudit,
  toolsIn,
  type Advisory,
} from './advisories/judge-audit.ts';
import { npmAudit } from './advisories/npm-audit.ts';

const repository = fileURLToPath(new URL('../', import.meta.url));

const { values } = parseArgs({ options: { list: { type: 'string', default: 'docs/advisories.json' } } });
const { list } = values;
const acceptances = readAcceptances(readFileSync(resolve(repository, list), 'utf8'));
const today = new Date().toISOString().slice(0, 10);
const tools = toolsIn(readFileSync(resolve(repository, 'package-lock.json'), 'utf8'));
const answer = readAudit(await npmAudit(['--loglevel=error']), tools);
if (answer.kind === 'unknown') {
  console.warn(`advisories: UNKNOWN. The registry did not say whether there are any: ${answer.reason}`);
  if (process.env['CI'] === 'true' && !acceptsUnknown(acceptances, today)) {
    console.error(
      `advisories: ask a registry that knows, or say in ${list} ("id": "unknown") why it need not be known here`,
    );
    process.exitCode = 1;
  }
} else {
  const { accepted, idle, others, refused } = judgeAdvisories(answer.advisories, acceptances, today);
  for (const one of others) console.warn(`advisories: ${line(one)}, in a tool`);
  for (const one of accepted) console.warn(`advisories: accepted by ${list}: ${line(one)}`);
  for (const { id } of idle) console.warn(`advisories: ${id} in ${list} is reported no more: remove it`);
  for (const one of refused) {
    console.error(`advisories: ${line(one)}: take a version without it, or say in ${list} why it does no harm here`);
  }
  console.log(
    `advisories: ${refused.length} refused, ${accepted.length} accepted, ${others.length} lesser ones of tools`,
  );
  process.exitCode = refused.length === 0 ? 0 : 1;
}

function line({ id, package: name, severity, title }: Advisory): string {
  return `${severity}: ${name}: ${title} (${id})`;
}
