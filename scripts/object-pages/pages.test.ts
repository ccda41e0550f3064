import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { before, test } from 'node:test';
import { stringsOf } from '../source-strings.ts';
import { eventReasons } from './event-reasons.ts';
import { objectFields } from './object-fields.ts';
import { eventsPage, objectsPage } from './pages.ts';

const root = path.resolve(import.meta.dirname, '../..');
/** Sources that speak of Events or conditions. */
const SPEAKS = /EventNote|LoadBalancerWarning|\bwarn\(\{|: '(?:Warning|Normal)'|lastTransitionTime/u;
const texts = new Map<string, Set<string>>();
const spoken = new Map<string, string>();

/** Names in such files that are no reason, type of a condition or annotation. */
const OTHERS = [
  'AbortError',
  'CertificateSigningRequest',
  'LoadBalancer',
  'LoadBalancerPart',
  'PersistentVolume',
  'RequireDualStack',
];

before(() => {
  const files = globSync(
    '{packages/{controllers,cloud-controller-manager,kube,cloud-provider,provider-kit},providers/*}/src/**/*.ts',
    {
      cwd: root,
      exclude: (file) =>
        /\.(?:test|suite)\.ts$|generated|example|model-api-server|\/(?:deploy|migrate|options|commands)$/u.test(file),
    },
  );
  for (const file of files) {
    const source = readFileSync(path.join(root, file), 'utf8');
    const strings = new Set(stringsOf(file, source).map(({ text }) => text));
    texts.set(file, strings);
    if (!SPEAKS.test(source)) continue;
    for (const text of strings) if (/^[A-Z][a-z]+(?:[A-Z]+[a-z]*)+$/u.test(text)) spoken.set(text, file);
  }
});

const reasons = Object.values(eventReasons)
  .flat()
  .map(({ reason }) => reason);
const fields = Object.values(objectFields).flat();
const isInSources = (name: string): boolean => texts.values().some((strings) => strings.has(name));

test('the pages are what the tables say (else: node scripts/object-pages.ts)', () => {
  assert.equal(readFileSync(path.join(root, 'docs/reference/events.md'), 'utf8'), eventsPage());
  assert.equal(readFileSync(path.join(root, 'docs/reference/annotations.md'), 'utf8'), objectsPage());
});

test('every reason and every name of the tables is in the sources', () => {
  assert.deepEqual(reasons, [...new Set(reasons)]);
  assert.deepEqual(
    [...reasons, ...fields.map(({ name }) => name)].filter((name) => !isInSources(name)),
    [],
  );
});

test('of each Warning the row says what to do', () => {
  const silent = Object.values(eventReasons)
    .flat()
    .filter(({ remedy, type }) => type === 'Warning' && !/^[A-Z]/u.test(remedy ?? ''));
  assert.deepEqual(
    silent.map(({ reason }) => reason),
    [],
  );
});

test('every reason of an Event and every type and reason of a condition in the sources is in the tables', () => {
  const values = fields.flatMap(({ name, value }) => [
    name,
    ...[...value.matchAll(/`(\w+)`/gu)].map(([, one = '']) => one),
  ]);
  const known = new Set([...reasons, ...values, ...OTHERS]);
  assert.deepEqual(
    [...spoken].filter(([name]) => !known.has(name)),
    [],
  );
  assert.ok(spoken.size > 60, `${spoken.size} names are found`);
});

test('every annotation, label, taint and finalizer of our own in the sources is in the tables', () => {
  const known = new Set(fields.map(({ name }) => name));
  const ours = [...texts].flatMap(([file, strings]) =>
    [...strings].filter((text) => /^(?:\w+\.)?outrigger\.dev\/[\w-]+$/u.test(text)).map((text) => ({ file, text })),
  );
  // Tags of things in a cloud are in a table of the provider's own pages.
  const isTag = (file: string, text: string): boolean => {
    const [folder, provider = ''] = file.split('/');
    const pages = globSync(`providers/${provider}/docs/*.md`, { cwd: root });
    return (
      folder === 'providers' &&
      pages.some((page) => readFileSync(path.join(root, page), 'utf8').includes(`| \`${text}\` |`))
    );
  };
  const classes = ['outrigger.dev/memory', 'outrigger.dev/aws'];
  assert.deepEqual(
    ours.filter(({ file, text }) => !known.has(text) && !classes.includes(text) && !isTag(file, text)),
    [],
  );
  assert.ok(ours.length > 6);
});
