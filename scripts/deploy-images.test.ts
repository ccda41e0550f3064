import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const repository = fileURLToPath(new URL('../', import.meta.url));

test('the manifests name images of a registry that cannot be there: applied as they are, they run nothing that somebody else publishes', () => {
  const files = globSync(['deploy/**/*.{yml,yaml}', 'docs/guides/**/*.md'], { cwd: repository });
  const images = files.flatMap((file) =>
    [
      ...readFileSync(path.join(repository, file), 'utf8').matchAll(
        /^[ -]*(?:image|repository): +(?<image>[^\s{"]+)/gmu,
      ),
    ]
      .map(([, image = '']) => image)
      .filter((image) => /\boutrigger\b|cloud-controller-manager/u.test(image)),
  );
  assert.ok(images.length > 20, `${images.length}`);
  // RFC 2606: no name ends with it.
  assert.deepEqual(
    images.filter((image) => !image.startsWith('registry.example/')),
    [],
  );
});
