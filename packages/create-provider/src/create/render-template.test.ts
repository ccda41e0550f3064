import assert from 'node:assert/strict';
import { test } from 'node:test';
import { renderTemplate } from './render-template.ts';

const values = { name: 'acme', title: 'Acme Cloud', parts: new Set(['routes']) };

test('parts that are wanted stay without their marks, in the comments of each language; others go', () => {
  const text = `a
  // <routes>
  b
  // </routes>
# <volumes>
c
# </volumes>
<!-- <routes> -->
d
<!-- </routes> -->
<!-- <volumes> -->
e
<!-- </volumes> -->
f`;
  assert.equal(renderTemplate(text, values), 'a\n  b\nd\nf');
});

test('name and title are put in wherever they stand', () => {
  assert.equal(
    renderTemplate('my-cloud://1 of My Cloud, cloud-provider-my-cloud', values),
    'acme://1 of Acme Cloud, cloud-provider-acme',
  );
});

test('a part that does not end, or ends in another, is a mistake of the template', () => {
  for (const text of ['# <routes>', '# </routes>', '# <routes>\n# <volumes>', '# <routes>\n# </volumes>']) {
    assert.throws(() => renderTemplate(text, values), /<\/?(?:routes|volumes)>/u);
  }
});
