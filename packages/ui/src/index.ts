/** `outrigger ui`: the page, its server and the command. See ../README.md. */
export { uiCommand } from './command.ts';
export { startUi, type UiOptions } from './start-ui.ts';
export type { UiServer } from './ui-server.ts';
