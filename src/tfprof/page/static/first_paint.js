// Runs in the head of the page, so that it has the chosen colours from the first paint on.

import { applyTheme } from "./chosen_theme.js";

applyTheme();
