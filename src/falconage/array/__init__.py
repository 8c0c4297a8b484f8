"""The backend room: matrices, devices, kernels; nothing here knows what a clock is."""
