import assert from 'node:assert/strict';
import { test } from 'node:test';
import { XMLParser, XMLValidator } from 'fast-xml-parser';
import { renderJUnit } from './junit.ts';
import { SAMPLE_REPORT, STOPPED_REPORT } from './sample-report.suite.ts';

/** An element in the order in which it was written: its name, its attributes and what is in it. */
interface Element {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: readonly Element[];
  readonly text: string;
}

type Ordered = Readonly<Record<string, readonly Ordered[] | Readonly<Record<string, string>> | string>>;

function parse(xml: string): readonly Element[] {
  assert.equal(XMLValidator.validate(xml), true);
  const parser = new XMLParser({
    preserveOrder: true,
    ignoreAttributes: false,
    attributeNamePrefix: '',
    parseTagValue: false,
    trimValues: false,
    ignoreDeclaration: true,
  });
  return elements(parser.parse(xml) as readonly Ordered[]);
}

function elements(nodes: readonly Ordered[]): readonly Element[] {
  return nodes.flatMap((node) => {
    const name = Object.keys(node).find((key) => key !== ':@');
    if (name === undefined || name === '#text') return [];
    const inside = node[name] as readonly Ordered[];
    return [
      {
        name,
        attributes: (node[':@'] ?? {}) as Readonly<Record<string, string>>,
        children: elements(inside),
        text: inside.map((one) => (typeof one['#text'] === 'string' ? one['#text'] : '')).join(''),
      },
    ];
  });
}

function only(found: readonly Element[], name: string): Element {
  const [element, ...more] = found.filter((one) => one.name === name);
  assert.ok(element, `an element ${name}`);
  assert.equal(more.length, 0, `one ${name}`);
  return element;
}

/** `xs:token`: no line breaks or tabs, no white space at the ends or twice. */
const TOKEN = /^(?:\S+(?: \S+)*)?$/u;
const WHOLE = /^\d+$/u;
const DECIMAL = /^\d+\.\d+$/u;

test('the document keeps the rules of both published schemas', () => {
  const roots = parse(renderJUnit(SAMPLE_REPORT));
  assert.deepEqual(
    roots.map(({ name }) => name),
    ['testsuites'],
  );
  const suite = only(roots[0]!.children, 'testsuite');
  // Required by Ant's schema; Jenkins' requires name, tests, failures and errors, and allows no attribute beyond these.
  assert.deepEqual(Object.keys(suite.attributes).sort(), [
    'errors',
    'failures',
    'hostname',
    'id',
    'name',
    'package',
    'skipped',
    'tests',
    'time',
    'timestamp',
  ]);
  for (const name of ['errors', 'failures', 'id', 'skipped', 'tests']) assert.match(suite.attributes[name]!, WHOLE);
  for (const name of ['hostname', 'name', 'package']) assert.match(suite.attributes[name]!, TOKEN);
  assert.match(suite.attributes['time']!, DECIMAL);
  assert.match(suite.attributes['timestamp']!, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/u, 'no zone, no fraction');
  // Ant's schema is a sequence: properties, test cases, then what was written.
  const order = suite.children.map(({ name }) => name);
  assert.deepEqual(order, ['properties', ...SAMPLE_REPORT.results.map(() => 'testcase'), 'system-out', 'system-err']);
  for (const { name, attributes } of only(suite.children, 'properties').children) {
    assert.equal(name, 'property');
    assert.deepEqual(Object.keys(attributes).sort(), ['name', 'value']);
  }
  for (const { name, attributes, children } of suite.children) {
    if (name !== 'testcase') continue;
    assert.deepEqual(Object.keys(attributes).sort(), ['classname', 'name', 'time']);
    assert.match(attributes['name']!, TOKEN);
    assert.match(attributes['classname']!, TOKEN);
    assert.match(attributes['time']!, DECIMAL);
    assert.ok(children.length <= 1, 'one outcome at most');
    for (const told of children) {
      assert.ok(['failure', 'skipped'].includes(told.name));
      // Ant's schema: a failure needs a type, what is skipped has none.
      const allowed = told.name === 'failure' ? ['message', 'type'] : ['message'];
      assert.deepEqual(Object.keys(told.attributes).sort(), allowed);
    }
  }
});

test('counts and outcomes are those of the report', () => {
  const suite = only(parse(renderJUnit(SAMPLE_REPORT))[0]!.children, 'testsuite');
  const { tests, failures, errors, skipped, time, timestamp } = suite.attributes;
  assert.deepEqual(
    { tests, failures, errors, skipped, time, timestamp },
    { tests: '4', failures: '1', errors: '0', skipped: '2', time: '65.500', timestamp: '2026-11-22T10:00:00' },
  );
  const outcomes = suite.children
    .filter(({ name }) => name === 'testcase')
    .map(({ attributes, children }) => [
      attributes['classname'],
      children[0]?.name,
      children[0]?.attributes['message'],
    ]);
  assert.deepEqual(outcomes, [
    ['provider.instances', undefined, undefined],
    ['provider.instances', 'failure', 'the answer was <missing> & not "absent"'],
    ['provider.load-balancers', 'skipped', 'dualStack is not declared'],
    ['provider.load-balancers', 'skipped', 'unverifiable: the fixture has no loseAnswers'],
  ]);
});

test('names stay the same whoever is judged, and whenever', () => {
  const names = (xml: string): readonly unknown[] =>
    only(parse(xml)[0]!.children, 'testsuite')
      .children.filter(({ name }) => name === 'testcase')
      .map(({ attributes }) => [attributes['classname'], attributes['name']]);
  const other = { ...SAMPLE_REPORT, subject: { name: 'other' }, started: '2027-01-01T00:00:00Z' };
  assert.deepEqual(names(renderJUnit(SAMPLE_REPORT)), names(renderJUnit(other)));
});

test('what a subject wrote is text, and all that XML cannot hold is replaced', () => {
  const xml = renderJUnit(SAMPLE_REPORT);
  const suite = only(parse(xml)[0]!.children, 'testsuite');
  const failure = suite.children.flatMap(({ children }) => children).find(({ name }) => name === 'failure');
  assert.ok(failure);
  assert.equal(failure.attributes['message'], 'the answer was <missing> & not "absent"');
  // The text has the reason too: testgrid shows no attribute.
  assert.equal(
    failure.text,
    [
      'the answer was <missing> & not "absent"',
      'asked: acme://1',
      'answered: </script><script>alert(1)</script>\ufffd ]]> \ufffd',
      'Promised in https://kubernetes.io/docs/concepts/architecture/cloud-controller/#node-controller',
    ].join('\n'),
  );
});

test('a report without a result is a document still', () => {
  const suite = only(parse(renderJUnit({ ...SAMPLE_REPORT, results: [] }))[0]!.children, 'testsuite');
  assert.equal(suite.attributes['tests'], '0');
});

test('a run that was stopped has an error, as a case of its own, with what both schemas ask of one', () => {
  const suite = only(parse(renderJUnit(STOPPED_REPORT))[0]!.children, 'testsuite');
  assert.deepEqual(
    [suite.attributes['tests'], suite.attributes['errors'], suite.attributes['failures']],
    ['4', '1', '0'],
  );
  const cases = suite.children.filter(({ name }) => name === 'testcase');
  assert.equal(cases.length, 4);
  const { attributes, children } = cases.at(-1)!;
  assert.deepEqual([attributes['classname'], attributes['name']], ['provider.run', 'run / all tests come to an end']);
  assert.match(attributes['time']!, DECIMAL);
  const error = only(children, 'error');
  assert.deepEqual(error.attributes, { type: 'stopped', message: '3 of 7 tests did not come to an end' });
  assert.equal(error.text, '3 of 7 tests did not come to an end');
});
