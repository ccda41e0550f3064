/** The answer as a text alone: what every reader needs. */
import { measured } from './measured.ts';

await measured(async (answer) => answer.toString().split('<instanceId>').length - 1);
