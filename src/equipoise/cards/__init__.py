"""Cards, hands, ranges, strength and suit isomorphism: what everything else stands on."""
