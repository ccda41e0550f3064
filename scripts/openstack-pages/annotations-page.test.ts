import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { annotationNotes } from './annotation-notes.ts';
import { annotationsPage } from './annotations-page.ts';
import {
  annotationTable,
  type AnnotationKey,
  type AnnotationRow,
} from '../../providers/openstack/src/load-balancer/desired/annotation-table.ts';

const rows = Object.entries(annotationTable) as readonly (readonly [AnnotationKey, AnnotationRow])[];
const repository = new URL('../../', import.meta.url);

test('the page of annotations is the one that is generated', () => {
  const page = readFileSync(new URL('providers/openstack/docs/annotations.md', repository), 'utf8');
  assert.equal(page, annotationsPage(), 'run `node scripts/openstack-annotations-page.ts`');
});

test('what is called seen on the lab is asked for there', () => {
  const cwd = new URL('e2e/openstack/', repository);
  const tests = globSync('*.ts', { cwd }).map((file) => readFileSync(new URL(file, cwd), 'utf8'));
  const keysIn = (text: string): readonly string[] => text.match(/annotated\(\{.*?\}\)/gs) ?? [];
  const asked = ({ name }: AnnotationRow): boolean => {
    const [word = ''] = name.split('/').slice(-1);
    const inFull = new RegExp(`[/}]${word}['"\`]`);
    const asKey = new RegExp(`[ ']${word}'?: `);
    return tests.some((text) => inFull.test(text) || keysIn(text).some((keys) => asKey.test(keys)));
  };
  const marked = rows.filter(([key]) => annotationNotes[key]?.shownBy?.startsWith('lab')).map(([, row]) => row);
  assert.deepEqual(
    marked.filter((row) => !asked(row)).map(({ name }) => name),
    [],
  );
});
