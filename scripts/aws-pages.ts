/** Writes `providers/aws/docs/config.md` and `iam.md` anew. A test compares them with the keys and the actions. */
import { writeFileSync } from 'node:fs';
import { configPage, iamPage } from './aws-pages-text.ts';

const docs = new URL('../providers/aws/docs/', import.meta.url);
writeFileSync(new URL('config.md', docs), configPage());
writeFileSync(new URL('iam.md', docs), iamPage());
