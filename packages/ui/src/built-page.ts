/** The page, where the program was bundled or packed: this file is replaced then (scripts/build-program.ts, scripts/packages). */

export interface BuiltPage {
  readonly js: string;
  readonly css: string;
}

export const builtPage: BuiltPage | undefined = undefined;
