"""What private training spends and how: clipping, noise, sampling, accounting, the card."""
