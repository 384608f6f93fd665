import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vite";

export default defineConfig({
  base: "./",
  plugins: [svelte()],
  build: { outDir: "../src/regard/studio/static", emptyOutDir: true, target: "es2022", assetsInlineLimit: 0 },
});
