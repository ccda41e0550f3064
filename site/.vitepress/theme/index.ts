/** The default theme, with the menu of versions. */
import type { Theme } from 'vitepress';
import DefaultTheme from 'vitepress/theme';
import './style.css';
import Versions from './Versions.vue';

export default {
  extends: DefaultTheme,
  enhanceApp: ({ app }) => void app.component('Versions', Versions),
} satisfies Theme;
